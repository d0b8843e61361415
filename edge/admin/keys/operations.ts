/** API keys over JSON: list, create, read, change, why they were refused, what was changed. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { AFTER_THE_WINDOW } from '../../http/fault-status.ts';
import { inSite } from '../../store/in-site.ts';
import { changesOf } from '../../store/admin-key.ts';
import { fromCursor, NUMBER_PART, toList, viewList } from '../api/cursor.ts';
import { etagOf, readIfMatch } from '../api/if-match.ts';
import { API_PATH, listOf, type Operation, operation, paging } from '../api/operation.ts';
import { changeItem, viewChange } from '../record/change.ts';
import { documented } from '../record/member.ts';
import { findRequests, refusalQuery } from '../requests/listing.ts';
import { requestItem, viewRequest } from '../requests/view.ts';
import { changeKey, createKey, keyChange, newKey, requireKey, type SavedKey } from './keys.ts';
import type { AdminDeps } from '../web/console.ts';
import { findKeys, keyQuery } from './listing.ts';
import { KEY_MEMBERS } from './record.ts';
import { lookAtUri } from './rules.ts';
import { apiKey, jwksFindings, viewFindings, viewKey } from './view.ts';

const savedKey = apiKey.extend({ jwksFindings });

const uriToCheck = z.strictObject({
  jwksUri: z.string().trim().min(1, 'is required').max(2000, 'at most 2000 characters'),
});
const uriChecked = z.object({
  acceptable: z.boolean().meta({ description: 'Whether a key with it would be saved, as far as this can tell.' }),
  problems: z.array(z.string()).meta({ description: 'Why it would not.' }),
  jwksFindings,
});

const answerSaved = ({ key, findings }: SavedKey, location: string) => ({
  body: { ...viewKey(key), jwksFindings: viewFindings(findings) },
  headers: { ETag: etagOf(key.version), Location: location },
});

export function keyOperations(deps: AdminDeps): Operation[] {
  const locationOf = (clientId: string) => `${deps.config.ADMIN_PUBLIC_BASE_URL ?? ''}${API_PATH}/api-keys/${clientId}`;

  return [
    operation({
      method: 'get',
      path: '/api-keys',
      permission: 'site.api_keys.read',
      summary: 'List the API keys of the site, the newest first',
      query: keyQuery,
      answer: listOf(apiKey),
      handle: async ({ actor, database, query }) => ({
        body: viewList(await findKeys(database, actor.site, query), viewKey),
      }),
    }),
    operation({
      method: 'post',
      path: '/api-keys',
      permission: 'site.api_keys.create',
      summary: 'Create an API key',
      description: 'The JWKS is looked at, and a JWKS URI fetched once; what was found is in `jwksFindings`.',
      body: documented(newKey),
      answer: savedKey,
      status: 201,
      async handle({ actor, database, body }) {
        const saved = await createKey({ ...deps, database }, actor, body);
        return answerSaved(saved, locationOf(saved.key.client_id));
      },
    }),
    operation({
      method: 'post',
      path: '/api-keys/check-jwks-uri',
      permission: ['site.api_keys.create', 'site.api_keys.update'],
      summary: 'Look at what a JWKS URI holds now, and save nothing',
      description:
        'The same look as when a key is saved, 60 times a minute for a site at most. Whose a public key is, is not asked.',
      body: uriToCheck,
      answer: uriChecked,
      async handle({ actor, body }) {
        if (!(await deps.rateLimiter.allow('token-client', `jwks-uri ${actor.site}`))) {
          throw new Fault('throttled', 'too many looks at JWKS URIs', { headers: AFTER_THE_WINDOW });
        }
        const { issues, findings } = await lookAtUri(deps, body.jwksUri);
        const problems = issues.map(({ message }) => message);
        return { body: { acceptable: problems.length === 0, problems, jwksFindings: viewFindings(findings) } };
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}',
      permission: 'site.api_keys.read',
      summary: 'Read an API key',
      answer: apiKey,
      async handle({ actor, database, param }) {
        const key = await requireKey(database, actor.site, param('clientId'));
        return { body: viewKey(key), headers: { ETag: etagOf(key.version) } };
      },
    }),
    operation({
      method: 'patch',
      path: '/api-keys/{clientId}',
      // Which of them depends on the change: see keys.ts.
      permission: ['site.api_keys.update', 'site.api_keys.disable'],
      summary: 'Change, disable or enable an API key',
      description:
        'Members that are left out stay as they are; null takes an optional one away. Disabling needs ' +
        '`site.api_keys.disable`, everything else `site.api_keys.update`.',
      body: documented(keyChange),
      answer: savedKey,
      needsIfMatch: true,
      async handle({ actor, database, body, param, header }) {
        const clientId = param('clientId');
        const expected = readIfMatch(header('if-match'));
        return answerSaved(
          await changeKey({ ...deps, database }, actor, clientId, expected, body),
          locationOf(clientId),
        );
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}/refusals',
      permission: 'site.api_keys.read',
      summary: 'Why requests of this API key were refused or failed, by reason, the last one first',
      description: 'Kept for as long as the settings of the site say. Of every key: `/requests`.',
      query: refusalQuery,
      answer: listOf(requestItem),
      async handle({ actor, database, param, query }) {
        const { client_id: clientId } = await requireKey(database, actor.site, param('clientId'));
        const found = await findRequests(database, actor.site, deps.now(), { ...query, clientId });
        return { body: viewList(found, viewRequest) };
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}/changes',
      permission: 'site.api_keys.read',
      summary: 'Who changed this API key when, before and after, the newest first',
      query: z.strictObject(paging),
      answer: listOf(changeItem),
      async handle({ actor, database, param, query: { limit, cursor } }) {
        const { client_id: clientId } = await requireKey(database, actor.site, param('clientId'));
        const before = fromCursor(cursor, NUMBER_PART)?.[0];
        const rows = await inSite(database, actor.site).run(
          changesOf(actor.site, clientId, before === undefined ? null : Number(before), limit + 1),
        );
        const changes = toList(rows, limit, (row) => [String(row.version)]);
        return { body: viewList(changes, (row) => viewChange(KEY_MEMBERS, row)) };
      },
    }),
  ];
}
