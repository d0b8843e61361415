/** The list of API keys, for the JSON API and the page alike. */
import { z } from 'zod';

import type { Database } from '../../deps.ts';
import { CLIENT_ID_PART, fromCursor, INSTANT_PART, type List, toList } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { type KeyRow, listKeys } from './statements.ts';
import { inSite } from '../../store/in-site.ts';

export const keyQuery = z.strictObject({
  ...paging,
  q: z.string().max(200).default('').meta({ description: 'Part of the name or of the Client ID.' }),
  status: z.enum(['', 'active', 'disabled']).default(''),
  protocol: z.enum(['', 'fhir', 'hl7', 'hl7-mllp']).default(''),
});

/** Keys of the site, the newest first. @throws Fault `malformed` for a cursor that is not ours */
export async function findKeys(
  database: Database,
  site: string,
  { limit, cursor, q, status, protocol }: z.infer<typeof keyQuery>,
): Promise<List<KeyRow>> {
  const after = fromCursor(cursor, INSTANT_PART, CLIENT_ID_PART);
  const rows = await inSite(database, site).run(listKeys(site, { text: q, status, protocol }, after, limit + 1));
  return toList(rows, limit, (row) => [row.created_at, row.client_id]);
}
