/** Lists, names, releases and deletes code tables, for the console, its JSON API and the command line. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../deps.ts';
import {
  createCodeTable,
  deleteTable,
  listCodeMisses,
  listCodeTables,
  listReleases,
  listTableRows,
  readImport,
  MAX_SYSTEMS,
  MAX_TABLES,
  releaseTable,
  renameTable,
  type CodeMissRow,
  type CodeTableRelease,
  type CodeTableRow,
  type ImportProgress,
  type TableRow,
  type TableRowKey,
} from '../../store/admin-code-table.ts';
import { inSite } from '../../store/in-site.ts';
import { localSystems } from '../../store/coding-systems.ts';
import { nameKey } from '../../store/patient-identity.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { fromCursor, type List, NUMBER_PART, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { requireSite, viewSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import type { SiteSystems } from './concept-map.ts';

export type RowsConfig = Pick<Config, 'INTEGRATION_FHIR_PUBLIC_BASE_URL'>;

export const noSuchTable = () => new Fault('not-found', 'no such code table');

/** @throws Fault `not-found` */
export const idOf = (id: string): string => {
  if (!isUuid(id)) throw noSuchTable();
  return id.toLowerCase();
};

export const newTable = z.strictObject({
  name: z.string().trim().min(1, 'is empty').max(100, 'has more than 100 characters'),
});

export async function findTables(database: Database, site: string): Promise<readonly CodeTableRow[]> {
  return inSite(database, site).run(listCodeTables(site, null));
}

/** @throws Fault `not-found` */
export async function requireTable(
  database: Database,
  site: string,
  given: string,
): Promise<{ readonly table: CodeTableRow; readonly releases: readonly CodeTableRelease[] }> {
  const id = idOf(given);
  const [[table], releases] = await inSite(database, site).batch([listCodeTables(site, id), listReleases(site, id)]);
  if (table === undefined) throw noSuchTable();
  return { table, releases };
}

/** The import of a table whose last part is not stored yet. */
export async function findImport(database: Database, site: string, id: string): Promise<ImportProgress | undefined> {
  const [progress] = await inSite(database, site).run(readImport(site, idOf(id)));
  return progress;
}

/** @throws Fault `conflict` for a name that another table has, or too many tables */
export async function addTable(database: Database, actor: Actor, name: string): Promise<CodeTableRow> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const id = crypto.randomUUID();
  const [[made], [table]] = await inSite(database, site).batch([
    createCodeTable(site, id, name, authorOf(actor)),
    listCodeTables(site, id),
  ]);
  if (made === undefined || table === undefined)
    throw new Fault('conflict', `the site has a code table with this name, or ${MAX_TABLES} tables`);
  return table;
}

/** Rows, versions and messages stay as they are. @throws Fault `not-found`; `conflict` for a name that another table has */
export async function rename(database: Database, actor: Actor, given: string, name: string): Promise<CodeTableRow> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const id = idOf(given);
  const [[renamed], [table]] = await inSite(database, site).batch([
    renameTable(site, id, name),
    listCodeTables(site, id),
  ]);
  if (table === undefined) throw noSuchTable();
  if (renamed === undefined) throw new Fault('conflict', 'another code table of the site has this name');
  return table;
}

const changedMeanwhile = () =>
  new Fault('precondition-failed', 'the code table was changed in the meantime: read it again');

export const deleteBody = z.strictObject({
  edits: z.int32().meta({ description: '`edits` of the table as it was read: a later change of the table is 412.' }),
});

/** Deletes a table with its versions. @throws Fault `not-found`, `precondition-failed`; `conflict` if it is live */
export async function remove(
  database: Database,
  actor: Actor,
  given: string,
  { edits }: z.infer<typeof deleteBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const [row] = await inSite(database, actor.site).run(deleteTable({ site: actor.site, table: idOf(given) }, edits));
  switch (row?.outcome) {
    case 'done':
      return;
    case 'edits':
      throw changedMeanwhile();
    case 'live':
      throw new Fault('conflict', 'messages are read by a version of the table: switch the table off first');
    default:
      throw noSuchTable();
  }
}

export const rowsQuery = z.strictObject({
  ...paging,
  limit: z.coerce.number().int().min(1).max(5000).default(50).meta({ description: 'The most rows of a page: 5,000.' }),
  version: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'An earlier version. Without it, the draft.' }),
  q: z.string().max(200).default('').meta({ description: 'A part of the code, the target code or the display.' }),
});

const ANY_PART = /^[^]{1,1000}$/;

/** @throws Fault `malformed` for an invalid cursor, `not-found` for a version after the draft, which has no rows */
export async function findRows(
  database: Database,
  site: string,
  { table_id: id, draft }: Pick<CodeTableRow, 'table_id' | 'draft'>,
  { limit, cursor, version = draft, q }: z.infer<typeof rowsQuery>,
): Promise<List<TableRow & TableRowKey>> {
  if (version > draft) throw new Fault('not-found', `the code table has no version ${version}`);
  const after = fromCursor(cursor, ANY_PART, ANY_PART, UUID_PART);
  const rows = await inSite(database, site).run(listTableRows(site, id, version, q, after, limit + 1));
  return toList(rows, limit, ({ system, code, row_key }) => [system, code, row_key]);
}

const ROWS_OF_PAGE = 2000;

/** The rows of a version, page by page. */
export async function* pagesOfRows(
  database: Database,
  site: string,
  table: Pick<CodeTableRow, 'table_id' | 'draft'>,
  version: number,
): AsyncGenerator<readonly TableRow[], undefined> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await findRows(database, site, table, { limit: ROWS_OF_PAGE, cursor, version, q: '' });
    yield page.items;
    cursor = page.next;
  }
  return undefined;
}

export const missesQuery = z.strictObject(paging);

/** @throws Fault `malformed` for an invalid cursor */
export async function findMisses(
  database: Database,
  site: string,
  { limit, cursor }: z.infer<typeof missesQuery>,
): Promise<List<CodeMissRow>> {
  const after = fromCursor(cursor, NUMBER_PART, ANY_PART, ANY_PART);
  const rows = await inSite(database, site).run(listCodeMisses(site, after, limit + 1));
  return toList(rows, limit, ({ messages, system, code }) => [messages, system, code]);
}

const codeSystems = z.object({ codeSystems: z.array(z.object({ name: z.string(), system: z.string() })) });

/** The coding systems of a site. */
export async function systemsOf(
  { INTEGRATION_FHIR_PUBLIC_BASE_URL: base }: RowsConfig,
  database: Database,
  site: string,
): Promise<SiteSystems> {
  const settings = viewSite(await requireSite(database, site));
  const named = codeSystems.parse(settings).codeSystems;
  return {
    named: new Map(named.map(({ name, system }) => [nameKey(name), system])),
    local: base && localSystems(`${base}/fhir`, site),
  };
}

/** The description of a release, of code tables and of rules. */
export const RELEASE_DESCRIPTION =
  'It applies to the next message, and does not change stored resources until their messages are replayed. A live draft ' +
  'becomes a version that never changes. To go back, make an earlier version live.';

export const releaseBody = z.strictObject({
  version: z.int32().min(1).nullable().meta({
    description: 'The draft, or an earlier version. Null: no version, messages are no longer changed.',
  }),
  edits: deleteBody.shape.edits,
  comment: z.string().trim().min(1, 'is empty: say why').max(500, 'has more than 500 characters'),
});

/** Makes a version live, from the next message on. @throws Fault `not-found`, `precondition-failed`, `conflict`, `invalid` */
export async function release(
  database: Database,
  actor: Actor,
  given: string,
  { version, edits, comment }: z.infer<typeof releaseBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const of = { site: actor.site, table: idOf(given) };
  const [row] = await inSite(database, actor.site).run(releaseTable(of, version, edits, authorOf(actor), comment));
  switch (row?.outcome) {
    case 'done':
      return;
    case 'edits':
      throw changedMeanwhile();
    case 'unchanged':
      throw new Fault('conflict', 'this version is live already');
    case 'version':
      throw new Fault('invalid', 'version is not a version of the table');
    case 'systems':
      throw new Fault('invalid', `the version has more than ${MAX_SYSTEMS} coding systems: divide the table`);
    default:
      throw noSuchTable();
  }
}
