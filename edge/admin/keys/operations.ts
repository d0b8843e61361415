/** API keys over JSON: list, create, read, change, why they were refused, what was changed (design decisions, section 6). */
import { z } from 'zod';

import type { Deps } from '../../deps.ts';
import { changesOf, listKeys, readKey } from '../../store/admin-key.ts';
import { findRefusals } from '../../store/admin-refusal.ts';
import { CLIENT_ID_PART, fromCursor, INSTANT_PART, NUMBER_PART, toList, UUID_PART } from '../api/cursor.ts';
import { etagOf, readIfMatch } from '../api/if-match.ts';
import { apiKey, jwksFinding, keyChange, newKey } from './schema.ts';
import { viewChange, viewFindings, viewKey, viewRefusal } from './view.ts';
import { changeKey, createKey, noSuchKey, type SavedKey } from './keys.ts';
import { API_PATH, listOf, type Operation, operation, paging } from '../api/operation.ts';

const savedKey = apiKey.extend({
  jwksFindings: z.object({
    unreachable: z.string().nullable().meta({ description: 'Why the JWKS URI could not be looked at now.' }),
    keys: z.array(jwksFinding),
  }),
});

export const refusalItem = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  clientId: z.string(),
  surface: z.enum(['token', 'mllp']),
  sourceAddress: z.string(),
  requestId: z.string(),
  code: z.string().meta({ description: 'Which check refused.' }),
  reason: z.string().meta({ description: 'The exact reason.' }),
  hint: z.string().nullable().meta({ description: 'What to change.' }),
});

const changeItem = z.object({
  version: z.number().int(),
  at: z.iso.datetime(),
  by: z.string(),
  changed: z.array(z.string()).meta({ description: 'The members that differ.' }),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()),
});

const answerSaved = ({ key, findings }: SavedKey, location: string) => ({
  body: { ...viewKey(key), jwksFindings: viewFindings(findings) },
  headers: { ETag: etagOf(key.version), Location: location },
});

export function keyOperations(deps: Deps): Operation[] {
  const { database } = deps;
  const locationOf = (clientId: string) => `${deps.config.ADMIN_PUBLIC_BASE_URL ?? ''}${API_PATH}/api-keys/${clientId}`;

  const requireKey = async (site: string, clientId: string) => {
    const [key] = await database.run(readKey(site, clientId));
    if (key === undefined) throw noSuchKey();
    return key;
  };

  return [
    operation({
      method: 'get',
      path: '/api-keys',
      permission: 'site.api_keys.read',
      summary: 'List the API keys of the site, the newest first',
      query: z.strictObject({
        ...paging,
        q: z.string().max(200).default('').meta({ description: 'Part of the name or of the Client ID.' }),
        status: z.enum(['', 'active', 'disabled']).default(''),
        protocol: z.enum(['', 'fhir', 'hl7', 'hl7-mllp']).default(''),
      }),
      answer: listOf(apiKey),
      async handle({ actor, query: { limit, cursor, q, status, protocol } }) {
        const after = fromCursor(cursor, INSTANT_PART, CLIENT_ID_PART);
        const rows = await database.run(listKeys(actor.site, { text: q, status, protocol }, after, limit + 1));
        return { body: toList(rows, limit, (row) => [row.created_at, row.client_id], viewKey) };
      },
    }),
    operation({
      method: 'post',
      path: '/api-keys',
      permission: 'site.api_keys.create',
      summary: 'Create an API key',
      description: 'The JWKS is looked at, and a JWKS URI fetched once; what was found is in `jwksFindings`.',
      body: z.unknown().meta({ ...z.toJSONSchema(newKey, { io: 'input', unrepresentable: 'any' }) }),
      answer: savedKey,
      status: 201,
      async handle({ actor, body }) {
        const saved = await createKey(deps, actor, body);
        return answerSaved(saved, locationOf(saved.key.client_id));
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}',
      permission: 'site.api_keys.read',
      summary: 'Read an API key',
      answer: apiKey,
      async handle({ actor, param }) {
        const key = await requireKey(actor.site, param('clientId'));
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
      body: z.unknown().meta({ ...z.toJSONSchema(keyChange, { io: 'input', unrepresentable: 'any' }) }),
      answer: savedKey,
      needsIfMatch: true,
      async handle({ actor, body, param, header }) {
        const clientId = param('clientId');
        const expected = readIfMatch(header('if-match'));
        return answerSaved(await changeKey(deps, actor, clientId, expected, body), locationOf(clientId));
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}/refusals',
      permission: 'site.api_keys.read',
      summary: 'Why requests of this API key were refused, the newest first',
      description: 'The newest 500 of each key are kept, for 90 days.',
      query: z.strictObject({
        ...paging,
        q: z.string().max(200).default('').meta({ description: 'Part of the reason, the address or the request id.' }),
        code: z.string().max(40).default(''),
        surface: z.enum(['', 'token', 'mllp']).default(''),
      }),
      answer: listOf(refusalItem),
      async handle({ actor, param, query: { limit, cursor, q, code, surface } }) {
        const { client_id: clientId } = await requireKey(actor.site, param('clientId'));
        const before = fromCursor(cursor, UUID_PART)?.[0] ?? null;
        const filter = { clientId, surface, code, text: q };
        const rows = await database.run(findRefusals(actor.site, filter, before, limit + 1));
        return { body: toList(rows, limit, (row) => [row.refusal_id], viewRefusal) };
      },
    }),
    operation({
      method: 'get',
      path: '/api-keys/{clientId}/changes',
      permission: 'site.api_keys.read',
      summary: 'Who changed this API key when, before and after, the newest first',
      query: z.strictObject(paging),
      answer: listOf(changeItem),
      async handle({ actor, param, query: { limit, cursor } }) {
        const { client_id: clientId } = await requireKey(actor.site, param('clientId'));
        const before = fromCursor(cursor, NUMBER_PART)?.[0];
        const rows = await database.run(
          changesOf(actor.site, clientId, before === undefined ? null : Number(before), limit + 1),
        );
        return { body: toList(rows, limit, (row) => [String(row.version)], viewChange) };
      },
    }),
  ];
}
