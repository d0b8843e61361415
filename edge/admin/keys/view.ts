/** API keys and their public keys as the JSON API answers them. */
import * as z from 'zod';

import { recordAnswer, toMembers } from '../../members/member.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';
import type { JwksFindings } from './rules.ts';
import type { KeyRow } from './statements.ts';

export const apiKey = z.object({
  clientId: z.string().meta({ description: '`svc-` and a UUID: the `iss` of assertions.' }),
  ...recordAnswer(KEY_MEMBERS),
  version: z.number().int().meta({ description: 'Also the ETag, in quotes.' }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  lastRefusalAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().meta({ description: 'To a quarter of an hour.' }),
  tokensToday: z.number().int().meta({ description: 'Tokens issued since midnight at the site.' }),
});

export function viewKey(row: KeyRow) {
  return {
    clientId: row.client_id,
    ...toMembers(KEY_MEMBERS, row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastRefusalAt: row.last_refusal,
    lastUsedAt: row.last_used,
    tokensToday: row.tokens_today,
  };
}

export const jwksFindings = z.object({
  unreachable: z.string().nullable().meta({ description: 'The reason why the JWKS URI could not be loaded.' }),
  keys: z.array(
    z.object({
      kid: z.string().nullable(),
      type: z.string(),
      size: z.number().int().meta({ description: 'Bits; 0 when unknown.' }),
      use: z.string().nullable(),
      usable: z.boolean(),
      reason: z.string().nullable().meta({ description: 'The reason why the key is not usable.' }),
    }),
  ),
});

export function viewFindings({ keys, unreachable }: JwksFindings) {
  return {
    unreachable: unreachable ?? null,
    keys: keys.map(({ kid, type, size, use, usable, reason }) => ({
      kid: kid ?? null,
      type,
      size,
      use: use ?? null,
      usable,
      reason: reason ?? null,
    })),
  };
}
