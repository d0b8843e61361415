/** API keys over JSON: list, create, read, change, rejected requests, history. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { AFTER_THE_WINDOW } from '../../http/fault-status.ts';
import { checkList, viewCheckList } from '../../check-list.ts';
import { checkListOf } from '../../store/check-list.ts';
import { inSite } from '../../store/in-site.ts';
import { changesOf } from '../../store/admin-key.ts';
import { fromCursor, NUMBER_PART, toList, viewList } from '../api/cursor.ts';
import { etagOf, readIfMatch } from '../api/if-match.ts';
import { listOf, locationOf, type Operation, operation, paging } from '../api/operation.ts';
import { changeItem, viewChange } from '../record/change.ts';
import { documented } from '../../members/member.ts';
import { findRequests, refusalQuery } from '../requests/listing.ts';
import { requestItem, viewRequest } from '../requests/view.ts';
import { changeKey, createKey, keyChange, newKey, noSuchKey, requireKey, type SavedKey } from './keys.ts';
import type { AdminDeps } from '../web/console.ts';
import { findKeys, keyQuery } from './listing.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';
import { linkOperations } from './links.ts';
import { inspectUri } from './rules.ts';
import { apiKey, jwksFindings, viewFindings, viewKey } from './view.ts';

const savedKey = apiKey.extend({ jwksFindings });

const uriToCheck = z.strictObject({
  jwksUri: z.string().trim().min(1, 'is required').max(2000, 'at most 2000 characters'),
});
const uriChecked = z.object({
  acceptable: z.boolean().meta({ description: 'True if an API key with this URI would be saved.' }),
  problems: z.array(z.string()).meta({ description: 'The reasons why it would not be saved.' }),
  jwksFindings,
});

const viewSaved = ({ key, findings }: SavedKey) => ({ ...viewKey(key), jwksFindings: viewFindings(findings) });

export function keyOperations(deps: AdminDeps): Operation[] {
  const headers = (key: ReturnType<typeof viewSaved>) => ({
    ...etagOf(key),
    ...locationOf(deps, `/api-keys/${key.clientId}`),
  });
  return [
    ...linkOperations(),
    operation('get', '/api-keys', 'site.api_keys.read', {
      summary: 'List the API keys of the site, the newest first',
      query: keyQuery,
      answer: listOf(apiKey),
      handle: async ({ actor, database, query }) => viewList(await findKeys(database, actor.site, query), viewKey),
    }),
    operation('post', '/api-keys', 'site.api_keys.create', {
      summary: 'Create an API key',
      description: 'The gateway checks the JWKS, or fetches the JWKS URI once. `jwksFindings` lists the keys.',
      body: documented(newKey),
      answer: savedKey,
      status: 201,
      handle: async ({ actor, database, body }) => viewSaved(await createKey({ ...deps, database }, actor, body)),
      headers,
    }),
    operation('post', '/api-keys/check-jwks-uri', ['site.api_keys.create', 'site.api_keys.update'], {
      summary: 'Fetch and check a JWKS URI without saving it',
      description:
        'The same check as for a saved key, except whether a public key belongs to another API key. At most 60 a minute for a site.',
      body: uriToCheck,
      answer: uriChecked,
      async handle({ actor, body }) {
        if (!(await deps.rateLimiter.allow('token-client', `jwks-uri ${actor.site}`))) {
          throw new Fault('throttled', 'too many checks of JWKS URIs: wait a minute', { headers: AFTER_THE_WINDOW });
        }
        const { issues, findings } = await inspectUri(deps, body.jwksUri);
        const problems = issues.map(({ message }) => message);
        return { acceptable: problems.length === 0, problems, jwksFindings: viewFindings(findings) };
      },
    }),
    operation('get', '/api-keys/{clientId}', 'site.api_keys.read', {
      summary: 'Read an API key',
      answer: apiKey,
      handle: async ({ actor, database, param }) => viewKey(await requireKey(database, actor.site, param('clientId'))),
      headers: etagOf,
    }),
    operation('patch', '/api-keys/{clientId}', ['site.api_keys.update', 'site.api_keys.disable'], {
      // keys.ts checks which of them the change needs.
      summary: 'Change, disable or enable an API key',
      description:
        'Members that are left out stay; null removes an optional one. Disabling needs `site.api_keys.disable`, every other ' +
        'change `site.api_keys.update`.',
      body: documented(keyChange),
      answer: savedKey,
      needsIfMatch: true,
      async handle({ actor, database, body, param, header }) {
        const expected = readIfMatch(header('if-match'));
        return viewSaved(await changeKey({ ...deps, database }, actor, param('clientId'), expected, body));
      },
      headers,
    }),
    operation('get', '/api-keys/{clientId}/refusals', 'site.api_keys.read', {
      summary: 'Rejected and failed requests of this API key by reason, the newest first',
      description: 'Kept as long as the settings of the site say. `/requests` lists those of all API keys.',
      query: refusalQuery,
      answer: listOf(requestItem),
      async handle({ actor, database, param, query }) {
        const { client_id: clientId } = await requireKey(database, actor.site, param('clientId'));
        const found = await findRequests(database, actor.site, deps.now(), { ...query, clientId });
        return viewList(found, viewRequest);
      },
    }),
    operation('get', '/api-keys/{clientId}/check-list', 'site.api_keys.read', {
      summary: 'The go-live check list of this API key',
      description: 'It fills itself in from what the gateway saw. The client sees it at `/oauth2/refusals`.',
      answer: checkList,
      async handle({ actor, database, param }) {
        const [seen] = await inSite(database, actor.site).run(checkListOf(actor.site, param('clientId')));
        if (seen === undefined) throw noSuchKey();
        return viewCheckList(seen);
      },
    }),
    operation('get', '/api-keys/{clientId}/changes', 'site.api_keys.read', {
      summary: 'The history of this API key: author, time, and members before and after, the newest first',
      query: z.strictObject(paging),
      answer: listOf(changeItem),
      async handle({ actor, database, param, query: { limit, cursor } }) {
        const { client_id: clientId } = await requireKey(database, actor.site, param('clientId'));
        const before = fromCursor(cursor, NUMBER_PART)?.[0];
        const rows = await inSite(database, actor.site).run(
          changesOf(actor.site, clientId, before === undefined ? null : Number(before), limit + 1),
        );
        const changes = toList(rows, limit, (row) => [String(row.version)]);
        return viewList(changes, (row) => viewChange(KEY_MEMBERS, row));
      },
    }),
  ];
}
