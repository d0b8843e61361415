/** The list of refusals, for the JSON API and the page alike. */
import { z } from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { findRefusals as refusalsFound, type FoundRefusal } from '../../store/admin-refusal.ts';
import { fromCursor, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';

export const refusalQuery = z.strictObject({
  ...paging,
  q: z.string().max(200).default('').meta({ description: 'Part of the reason, the address or the request id.' }),
  code: z.string().max(40).default(''),
  surface: z.enum(['', 'token', 'mllp']).default(''),
});

/**
 * Refusals of the site, the newest first.
 *
 * @param clientId of one key; '' for those of every key
 * @throws Fault `malformed` for a cursor that is not ours
 */
export async function findRefusals(
  database: Database,
  site: string,
  clientId: string,
  { limit, cursor, q, code, surface }: z.infer<typeof refusalQuery>,
): Promise<List<FoundRefusal>> {
  const before = fromCursor(cursor, UUID_PART)?.[0] ?? null;
  const rows = await inSite(database, site).run(
    refusalsFound(site, { clientId, surface, code, text: q }, before, limit + 1),
  );
  return toList(rows, limit, (row) => [row.refusal_id]);
}
