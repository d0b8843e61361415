/** The log of refused and failed requests, for the JSON API and the page alike. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { ANY_REFUSAL, findRefusals, type FoundRefusal } from '../../store/admin-refusal.ts';
import { USAGE_SURFACES } from '../../store/usage.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { instant, requireForward } from '../api/instant.ts';
import { paging } from '../api/operation.ts';

/** Hours back from now. */
const RANGES = { '1h': 1, '24h': 24, '7d': 168 } as const;

const filters = {
  q: z.string().trim().max(200).default('').meta({
    description:
      'Part of the reason or the address, ignoring case; or a complete request id, which is found at any time.',
  }),
  code: z.string().max(40).default('').meta({ description: 'The exact code of the check.' }),
  surface: z.enum(['', ...USAGE_SURFACES]).default(''),
  status: z
    .union([z.literal(''), z.string().regex(/^(?:[45](?:\d\d|xx)|A[ER])$/, 'must be a status, as 422, 4xx, or AE, AR')])
    .default('')
    .meta({ description: 'An HTTP status, `4xx` or `5xx`; over MLLP AE or AR.' }),
  range: z
    .enum(['', '1h', '24h', '7d'])
    .default('')
    .meta({ description: 'The last hours or days; `from` has precedence.' }),
  from: instant.meta({ description: 'Rounded down to a quarter of an hour.' }),
  to: instant,
};

export const refusalQuery = z.strictObject({ ...paging, ...filters });
export const requestQuery = refusalQuery.extend({ clientId: z.string().max(40).default('') });

/**
 * Refused and failed requests of the site by reason, that of the last one first.
 *
 * @param clientId '' for all keys
 * @throws Fault `malformed` for an invalid cursor, or a time span that ends before it begins
 */
export async function findRequests(
  database: Database,
  site: string,
  nowMs: number,
  { limit, cursor, q, range, status, from, ...filter }: z.infer<typeof requestQuery>,
): Promise<List<FoundRefusal>> {
  requireForward({ from, to: filter.to });
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const back = range === '' ? '' : new Date(nowMs - RANGES[range] * 3_600_000).toISOString();
  const rows = await inSite(database, site).run(
    findRefusals(
      site,
      { ...ANY_REFUSAL, ...filter, answer: status, text: q, from: from === '' ? back : from },
      after,
      limit + 1,
    ),
  );
  return toList(rows, limit, (row) => [row.place, row.id]);
}
