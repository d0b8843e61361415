/** The list of API keys, for the JSON API and the page. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { CLIENT_ID_PART, fromCursor, INSTANT_PART, type List, toList } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { KEY_SORTS } from '../../store/admin-key.ts';
import { type KeyRow, listKeys } from './statements.ts';
import { inSite } from '../../store/in-site.ts';

export const keyQuery = z.strictObject({
  ...paging,
  q: z.string().max(200).default('').meta({ description: 'Part of the name or of the Client ID.' }),
  status: z.enum(['', 'active', 'disabled']).default(''),
  protocol: z.enum(['', 'fhir', 'hl7', 'hl7-mllp']).default(''),
  sort: z.enum(KEY_SORTS).default('created').meta({
    description: 'The newest first, by name, or the last used first. A cursor is valid for one order only.',
  }),
});

const NAME_PART = /^[^]{1,400}$/;
/** The same values as in SQL, so that a cursor continues behind its row. */
const PART_OF: Readonly<Record<(typeof KEY_SORTS)[number], (row: KeyRow) => string>> = {
  created: (row) => row.created_at,
  name: (row) => row.name_key,
  used: (row) => row.last_used ?? '1970-01-01T00:00:00.000000Z',
};

/** A page of the site's keys. @throws Fault `malformed` for a cursor that is not valid */
export async function findKeys(
  database: Database,
  site: string,
  { limit, cursor, q, status, protocol, sort }: z.infer<typeof keyQuery>,
): Promise<List<KeyRow>> {
  const after = fromCursor(cursor, sort === 'name' ? NAME_PART : INSTANT_PART, CLIENT_ID_PART);
  const rows = await inSite(database, site).run(listKeys(site, { text: q, status, protocol }, after, limit + 1, sort));
  return toList(rows, limit, (row) => [PART_OF[sort](row), row.client_id]);
}
