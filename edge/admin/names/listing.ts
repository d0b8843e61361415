/** Names that messages use, with what the settings say of them by now: for the JSON API and the page alike. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { listUnmappedNames, MAX_COUNT, type UnmappedNameRow } from '../../store/admin-unmapped-name.ts';
import { NAME_KINDS } from '../../store/unmapped-name.ts';
import { fromCursor, type List, toList, viewList } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { noSuchSite, readSettings } from '../settings/site.ts';
import { findSystem } from './naming.ts';

export const unmappedQuery = z.strictObject(paging);

const text = z.string();

export const unmappedItem = z.object({
  kind: z.enum(NAME_KINDS).meta({ description: 'An assigning authority (HD.1), or a coding system (CWE.3).' }),
  name: text.meta({ description: 'In capitals: names compare without case.' }),
  system: text.nullable().meta({
    description: 'The URI that the settings have by now: its messages are still to be processed again.',
  }),
  messages: z
    .number()
    .int()
    .meta({ description: `How many messages have it; counting stops at ${MAX_COUNT}.` }),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  lastMessageId: z.uuid(),
  lastClientId: text,
  lastKeyName: text,
});
export type UnmappedView = z.infer<typeof unmappedItem>;

// oxlint-disable-next-line gateway/linear-expression -- fixed words
const KIND_PART = new RegExp(`^(?:${NAME_KINDS.join('|')})$`);
const NAME_PART = /^[^]{1,1000}$/;

const view = (row: UnmappedNameRow, system: string | null): UnmappedView => ({
  kind: row.kind,
  name: row.name,
  system,
  messages: row.messages,
  firstAt: row.first_at,
  lastAt: row.last_at,
  lastMessageId: row.last_message,
  lastClientId: row.last_client,
  lastKeyName: row.last_key_name,
});

/** The names of the site by kind and name. @throws Fault `malformed` for an invalid cursor */
export async function findUnmapped(
  database: Database,
  site: string,
  { limit, cursor }: z.infer<typeof unmappedQuery>,
): Promise<List<UnmappedView>> {
  const after = fromCursor(cursor, KIND_PART, NAME_PART);
  const [rows, [settings]] = await inSite(database, site).batch([
    listUnmappedNames(site, after, limit + 1),
    readSettings(site),
  ]);
  if (settings === undefined) throw noSuchSite();
  const list = toList(rows, limit, ({ kind, name }) => [kind, name]);
  return viewList(list, (row) => view(row, findSystem(settings, row)));
}
