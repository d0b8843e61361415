/** The log of refused and failed requests, for the JSON API and the page alike. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { findRefusals, type FoundRefusal } from '../../store/admin-refusal.ts';
import { USAGE_SURFACES } from '../../store/usage.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { instant } from '../api/instant.ts';
import { paging } from '../api/operation.ts';

/** Hours back from now. */
export const RANGES = { '1h': 1, '24h': 24, '7d': 168 } as const;

const filters = {
  q: z.string().trim().max(200).default('').meta({
    description:
      'Part of the reason or the address, in any case; or a whole request id, which is found whatever `range`, `from` and `to` say.',
  }),
  code: z.string().max(40).default('').meta({ description: 'Which check refused, exactly.' }),
  surface: z.enum(['', ...USAGE_SURFACES]).default(''),
  status: z
    .union([z.literal(''), z.string().regex(/^(?:[45](?:\d\d|xx)|A[ER])$/, 'must be a status, as 422, 4xx, or AE, AR')])
    .default('')
    .meta({ description: 'An HTTP status, `4xx` or `5xx`; over MLLP AE or AR.' }),
  range: z.enum(['', '1h', '24h', '7d']).default('').meta({ description: 'Back from now; `from` goes before it.' }),
  from: instant.meta({ description: 'The quarter of an hour that it lies in counts.' }),
  to: instant,
};

/** Of one key. */
export const refusalQuery = z.strictObject({ ...paging, ...filters });
/** Of the site. */
export const requestQuery = refusalQuery.extend({ clientId: z.string().max(40).default('') });

/**
 * Refused and failed requests of the site by reason, that of the last one first.
 *
 * @param clientId of one key; '' for those of every key
 * @throws Fault `malformed` for a cursor that is not ours
 */
export async function findRequests(
  database: Database,
  site: string,
  nowMs: number,
  { limit, cursor, q, range, status, from, ...filter }: z.infer<typeof requestQuery>,
): Promise<List<FoundRefusal>> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const back = range === '' ? '' : new Date(nowMs - RANGES[range] * 3_600_000).toISOString();
  const rows = await inSite(database, site).run(
    findRefusals(site, { ...filter, answer: status, text: q, from: from === '' ? back : from }, after, limit + 1),
  );
  return toList(rows, limit, (row) => [row.place, row.id]);
}
