/** Lists, imports and releases code tables, for the console, its JSON API and the command line. */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../deps.ts';
import {
  createCodeTable,
  editTable,
  importPart,
  listCodeMisses,
  listCodeTables,
  listReleases,
  listTableRows,
  MAX_ROWS_OF_CODE,
  MAX_SYSTEMS,
  MAX_TABLES,
  MAX_ROWS,
  releaseTable,
  type CodeMissRow,
  type CodeTableRelease,
  type CodeTableRow,
  type ImportPart,
  type NumberedRow,
  type TableRow,
  type TableRowKey,
} from '../../store/admin-code-table.ts';
import { inSite } from '../../store/in-site.ts';
import { localSystems } from '../../store/coding-systems.ts';
import { nameKey } from '../../store/patient-identity.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { fromCursor, type List, NUMBER_PART, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { requireSite, viewSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import { conceptMapBody, rowsOfConceptMap, type SiteSystems } from './concept-map.ts';
import { readCsv } from './csv.ts';
import { readRow, rowBody, type SentRow } from './rows.ts';

export type RowsConfig = Pick<Config, 'INTEGRATION_FHIR_PUBLIC_BASE_URL'>;

const noSuchTable = () => new Fault('not-found', 'no such code table');

const idOf = (id: string): string => {
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

/** @throws Fault `malformed` for an invalid cursor */
export async function findRows(
  database: Database,
  site: string,
  { table_id: id, draft }: Pick<CodeTableRow, 'table_id' | 'draft'>,
  { limit, cursor, version = draft, q }: z.infer<typeof rowsQuery>,
): Promise<List<TableRow & TableRowKey>> {
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

/** A larger file is sent in parts: 10,000 rows need some 5 MB of a Worker's memory. */
export const MAX_IMPORT_BYTES = 2 * 1024 * 1024;

const sentRows = {
  rows: z.array(rowBody).max(20_000).optional(),
  csv: z
    .string()
    .optional()
    .meta({ description: 'A line of column names, then a line for each row. The columns are the members of a row.' }),
  conceptMap: conceptMapBody.optional().meta({ description: 'A ConceptMap of FHIR R4. Its metadata is not stored.' }),
};
const isOneForm = (body: Readonly<Partial<Record<keyof typeof sentRows, unknown>>>): boolean =>
  [body.rows, body.csv, body.conceptMap].filter((each) => each !== undefined).length === 1;
const ONE_FORM = { error: 'needs one of rows, csv and conceptMap', path: ['rows'] };

export const importBody = z
  .strictObject({
    ...sentRows,
    importId: z.uuid().optional().meta({ description: 'The same for all parts. Needed for more than one.' }),
    part: z.number().int().min(1).max(1000).default(1),
    parts: z.number().int().min(1).max(1000).default(1).meta({
      description: 'The number of parts, in order. The draft changes with the last one, or not at all.',
    }),
    firstLine: z.number().int().min(1).max(10_000_000).default(1).meta({
      description: 'The line of the complete file where this part begins, for the places of faults.',
    }),
  })
  .refine(isOneForm, ONE_FORM)
  .refine(({ part, parts, importId }) => part <= parts && (parts === 1 || importId !== undefined), {
    error: 'must be at most `parts`, and several parts need an importId',
    path: ['part'],
  });
export type ImportBody = z.infer<typeof importBody>;

export const editBody = z
  .strictObject({
    ...sentRows,
    change: z.enum(['set', 'remove']).meta({
      description:
        '`set`: the rows replace those of the same codes and senders. `remove`: all rows of these codes and senders are removed.',
    }),
  })
  .refine(isOneForm, ONE_FORM);

/** More are not reported. */
const MAX_FAULTS = 100;

const faulty = (faults: readonly (readonly [line: number, message: string])[]): Fault => {
  const issues = faults.slice(0, MAX_FAULTS).map(([line, message]): Issue => {
    return { code: 'invalid', message, at: `line ${line}` };
  });
  return new Fault('invalid', 'the rows are not valid: nothing was imported', { issues });
};

/** A row as sent, with its line. */
interface SentLine {
  readonly line: number;
  readonly row: SentRow;
}

/** Rows that are not CSV have no lines: they are counted. */
const counted = (rows: readonly SentRow[]): SentLine[] => rows.map((row, at) => ({ line: at + 1, row }));

/** A ConceptMap, parsed from JSON. @throws Fault `invalid` */
export async function readConceptMap(
  config: RowsConfig,
  database: Database,
  site: string,
  given: unknown,
): Promise<SentLine[]> {
  return counted(rowsOfConceptMap(parse(conceptMapBody, given), await systemsOf(config, database, site)));
}

async function readRows(
  config: RowsConfig,
  database: Database,
  site: string,
  { rows = [], csv, conceptMap }: Pick<ImportBody, keyof typeof sentRows>,
  firstLine = 1,
): Promise<NumberedRow[]> {
  const lines =
    csv !== undefined
      ? readCsv(csv)
      : conceptMap === undefined
        ? counted(rows)
        : await readConceptMap(config, database, site, conceptMap);
  return checkRows(lines.map(({ line, row }) => ({ line: line + firstLine - 1, row })));
}

/** @throws Fault `invalid` with the line of each fault */
export function checkRows(sent: readonly SentLine[]): NumberedRow[] {
  const faults: [number, string][] = [];
  const seen = new Map<string, number>();
  const rows = sent.flatMap(({ line, row }): NumberedRow[] => {
    const found = readRow(row);
    if (!('code' in found)) {
      faults.push(...found.map(({ member, message }): [number, string] => [line, `${member} ${message}`]));
      return [];
    }
    const key = keyOfRow(found);
    const same = seen.get(key);
    if (same !== undefined) faults.push([line, `line ${same} has the same code, sender and target`]);
    seen.set(key, line);
    return [{ line, row: found }];
  });
  if (faults.length > 0) throw faulty(faults);
  return rows;
}

const keyOfRow = ({ system, code, application, facility, targetSystem, targetCode }: TableRow): string =>
  [system, code, application, facility, targetSystem, targetCode].join('\n');

/** The faults of outcomes that a change and an import share. */
function faultOf(outcome: string | undefined): Fault {
  if (outcome === 'rows') return new Fault('invalid', `a table may have ${MAX_ROWS} rows: divide it by coding system`);
  if (outcome === 'of-code') return new Fault('invalid', `a code may have ${MAX_ROWS_OF_CODE} rows: remove some`);
  return noSuchTable();
}

/**
 * Imports a part of a file; with the last part, the rows of all parts become the draft.
 *
 * @param config for the URIs of a ConceptMap's coding systems
 * @returns true with the last part
 * @throws Fault `invalid` with the line of each fault, `conflict` if another import has begun
 */
export async function importRows(
  config: RowsConfig,
  database: Database,
  actor: Actor,
  given: string,
  body: ImportBody,
): Promise<boolean> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const { importId = crypto.randomUUID(), part, parts } = body;
  const rows = await readRows(config, database, site, body, body.firstLine);
  return addPart(database, { site, table: idOf(given), importId, part, parts }, rows);
}

/** @returns true with the last part */
async function addPart(database: Database, of: ImportPart, rows: readonly NumberedRow[]): Promise<boolean> {
  const [imported] = await inSite(database, of.site).run(importPart(of, rows));
  switch (imported?.outcome) {
    case 'staged':
    case 'done':
      return imported.outcome === 'done';
    case 'parts':
      throw new Fault('conflict', 'an earlier part is missing, or another import has begun: import all parts again');
    case 'ended':
      throw new Fault(
        'conflict',
        'the import with this importId is complete: read the table, or import with another one',
      );
    case 'lines':
      throw faulty(
        (imported.lines ?? []).map((line) => [line, 'an earlier part has the same code, sender and target']),
      );
    default:
      throw faultOf(imported?.outcome);
  }
}

/** A part takes PostgreSQL some 0.3 s. */
const ROWS_OF_PART = 10_000;

/** Imports all rows of a file in parts. @param show called after each part, with the number of rows so far */
export async function importFile(
  database: Database,
  actor: Actor,
  table: string,
  rows: readonly NumberedRow[],
  show: (done: number) => void,
): Promise<void> {
  const parts = Math.max(1, Math.ceil(rows.length / ROWS_OF_PART));
  const of = { site: actor.site, table, importId: crypto.randomUUID(), parts };
  for (let part = 1; part <= parts; part += 1) {
    await addPart(database, { ...of, part }, rows.slice((part - 1) * ROWS_OF_PART, part * ROWS_OF_PART));
    show(Math.min(part * ROWS_OF_PART, rows.length));
  }
}

/** Sets or removes rows of the draft. @throws Fault `invalid` with the line of each fault */
export async function editRows(
  config: RowsConfig,
  database: Database,
  actor: Actor,
  given: string,
  { change, ...body }: z.infer<typeof editBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const rows = await readRows(config, database, site, body);
  const of = { site, table: idOf(given) };
  const [edited] = await inSite(database, site).run(editTable(of, rows, change === 'remove'));
  if (edited?.outcome !== 'done') throw faultOf(edited?.outcome);
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
  version: z.number().int().min(1).nullable().meta({
    description: 'The draft, or an earlier version. Null: no version, messages are no longer changed.',
  }),
  edits: z
    .number()
    .int()
    .meta({ description: '`edits` of the table as it was read: a later change of the table is 412.' }),
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
      throw new Fault('precondition-failed', 'the code table was changed in the meantime: read it again');
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
