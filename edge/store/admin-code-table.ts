/** Code tables of a site for administrators: tables, their rows by version, imports, and what became live when. */
import type { Query } from '../deps.ts';
import type { SentCode, Equivalence } from './code-table.ts';
import { instantOf, instantsOf, raw, read, sql } from './sql.ts';

/** A lookup takes some 20 µs for each table that has the coding system. */
export const MAX_TABLES = 20;
export const MAX_ROWS = 200_000;
/** Senders and targets of one code; real codes have a few. */
export const MAX_ROWS_OF_CODE = 50;
/** The coding systems of a version are a part of the settings that each isolate keeps. */
export const MAX_SYSTEMS = 100;

export interface CodeTableRow {
  readonly table_id: string;
  readonly name: string;
  readonly live: number | null;
  readonly draft: number;
  readonly edits: number;
  readonly created_at: string;
  readonly created_by: string;
  /** The number of rows of the draft. */
  readonly rows: number;
  /** The draft has other rows than the newest version. */
  readonly is_changed: boolean;
}

/** By name. @param id one table; null for all */
export const listCodeTables = (site: string, id: string | null): Query<CodeTableRow> =>
  read<CodeTableRow>`select t.table_id, t.name, t.live, t.draft, t.edits, ${raw(instantsOf(['t.created_at']))}, t.created_by,
      (select count(*)::int from code_table_row r where r.site_id = t.site_id and r.table_id = t.table_id
          and r.content = t.content and r.until is null) as rows,
      t.draft = 1 or exists (select from code_table_row r where r.site_id = t.site_id and r.table_id = t.table_id
          and r.content = t.content and t.draft in (r.since, r.until))
        or t.content <> (select v.content from code_table_version v
                          where v.site_id = t.site_id and v.table_id = t.table_id and v.version = t.draft - 1) as is_changed
    from code_table t where t.site_id = ${site}::uuid and (${id}::uuid is null or t.table_id = ${id}::uuid) order by t.name`;

/** No row if there are too many tables. @throws Fault `conflict` for a name that another table has */
export const createCodeTable = (
  site: string,
  id: string,
  name: string,
  by: string,
): Query<{ readonly table_id: string }> =>
  sql<{ table_id: string }>`with made as (
      insert into code_table (site_id, table_id, name, created_by)
        select ${site}::uuid, ${id}::uuid, ${name}, ${by}
         where (select count(*) from code_table t where t.site_id = ${site}::uuid) < ${MAX_TABLES}::int
        on conflict do nothing returning table_id)
    select m.table_id, audit_note(array[row('code-table-changed', 'CodeTable', m.table_id, null)::audit_item]) from made m`;

/** No row if there is no such table, or another one has the name. @throws Fault `conflict` for a name given at the same time */
export const renameTable = (site: string, id: string, name: string): Query<{ readonly table_id: string }> =>
  sql<{ table_id: string }>`with renamed as (
      update code_table t set name = ${name}
       where t.site_id = ${site}::uuid and t.table_id = ${id}::uuid
         and not exists (select from code_table o
                          where o.site_id = t.site_id and o.name = ${name} and o.table_id <> t.table_id)
      returning t.table_id)
    select r.table_id, audit_note(array[row('code-table-changed', 'CodeTable', r.table_id, null)::audit_item]) from renamed r`;

export interface CodeTableRelease {
  readonly number: number;
  readonly version: number | null;
  readonly at: string;
  readonly by: string;
  readonly comment: string;
}

/** The newest first. */
export const listReleases = (site: string, id: string): Query<CodeTableRelease> =>
  read<CodeTableRelease>`select r.number, r.version, ${raw(instantOf('r.at'))} as at, r.by, r.comment
    from code_table_release r where r.site_id = ${site}::uuid and r.table_id = ${id}::uuid
    order by r.number desc limit 200`;

export interface TableRow extends SentCode {
  /** MSH-3 and MSH-4; '' for any. */
  readonly application: string;
  readonly facility: string;
  /** '' for a code without a target. */
  readonly targetSystem: string;
  readonly targetCode: string;
  readonly display: string;
  readonly equivalence: Equivalence;
}

/** Identifies a row of a version, in the order of the list. */
export interface TableRowKey {
  readonly system: string;
  readonly code: string;
  readonly row_key: string;
}

/**
 * The rows of a version.
 *
 * @param text a part of the code, the target code or the display, in any case; '' for all
 */
export const listTableRows = (
  site: string,
  id: string,
  version: number,
  text: string,
  after: readonly string[] | null,
  limit: number,
): Query<TableRow & TableRowKey> =>
  read<TableRow & TableRowKey>`select r.system, r.code, r.application, r.facility, r.target_system as "targetSystem",
      r.target_code as "targetCode", r.display, r.equivalence, r.row_key
    from code_table_row r
   where r.site_id = ${site}::uuid and r.table_id = ${id}::uuid and r.content = (
       select coalesce(v.content, t.content) from code_table t
         left join code_table_version v on v.site_id = t.site_id and v.table_id = t.table_id and v.version = ${version}::int
        where t.site_id = ${site}::uuid and t.table_id = ${id}::uuid)
     and r.since <= ${version}::int
     and coalesce(r.until > ${version}::int, true)
     and (${text} = '' or strpos(lower(concat_ws(' ', r.code, r.target_code, r.display)), lower(${text})) > 0)
     and (${after?.[0] ?? null}::text is null or (r.system, r.code, r.row_key)
       > (${after?.[0] ?? null}::text, ${after?.[1] ?? null}::text, ${after?.[2] ?? null}::uuid))
   order by r.system, r.code, r.row_key limit ${limit}::int`;

/** Rows with their lines in the file that they are from. */
export interface NumberedRow {
  readonly line: number;
  readonly row: TableRow;
}

/** The columns of a row, in the order of files and functions. */
export const ROW_COLUMNS = [
  'system',
  'code',
  'application',
  'facility',
  'targetSystem',
  'targetCode',
  'display',
  'equivalence',
] as const satisfies readonly (keyof TableRow)[];

/** As the functions read it: the line, then the columns. */
export const rowsOf = (rows: readonly NumberedRow[]): (string | number)[][] =>
  rows.map(({ line, row }) => [line, ...ROW_COLUMNS.map((name) => row[name])]);
const rowsJson = (rows: readonly NumberedRow[]): string => JSON.stringify(rowsOf(rows));

/** The difference of rows from those of a version. */
export interface RowsDifference {
  /** The rows of the version. */
  readonly stored: number;
  readonly removed: number;
  readonly added: number;
  /** JSON: the first of `TableRow[]`, by coding system and code. */
  readonly some_removed: string;
  readonly some_added: string;
}

const DIFFERING = `system, code, application, facility, target_system as "targetSystem", target_code as "targetCode", display, equivalence`;
const firstOf = (rows: string): string =>
  `(select coalesce(json_agg(s), '[]')::text from (
     select ${DIFFERING} from ${rows} order by system, code, application, facility, target_system, target_code limit 5) s)`;

/** @param version null for a table that is off, which has no rows */
export const compareTableRows = (
  site: string,
  id: string,
  version: number | null,
  rows: readonly NumberedRow[],
): Query<RowsDifference> =>
  read<RowsDifference>`with given as materialized (
      select x ->> 1 as system, x ->> 2 as code, x ->> 3 as application, x ->> 4 as facility, x ->> 5 as target_system,
             x ->> 6 as target_code, x ->> 7 as display, x ->> 8 as equivalence
        from jsonb_array_elements(${rowsJson(rows)}::jsonb) x
    ), stored as materialized (
      select r.system, r.code, r.application, r.facility, r.target_system, r.target_code, r.display, r.equivalence
        from code_table_row r
       where r.site_id = ${site}::uuid and r.table_id = ${id}::uuid and r.content = (
           select v.content from code_table_version v
            where v.site_id = ${site}::uuid and v.table_id = ${id}::uuid and v.version = ${version}::int)
         and r.since <= ${version}::int and coalesce(r.until > ${version}::int, true)
    ), removed as materialized (select * from stored except select * from given),
    added as materialized (select * from given except select * from stored)
    select (select count(*)::int from stored) as stored, (select count(*)::int from removed) as removed,
           (select count(*)::int from added) as added, ${raw(firstOf('removed'))} as some_removed,
           ${raw(firstOf('added'))} as some_added`;

export interface ImportPart {
  readonly site: string;
  readonly table: string;
  readonly importId: string;
  /** From 1. The first part ends every other import of the table. */
  readonly part: number;
  readonly parts: number;
}

export interface PartImported {
  /** `done`: it was the last part. All but `staged` and `done` are faults. */
  readonly outcome: 'staged' | 'done' | 'missing' | 'parts' | 'ended' | 'rows' | 'of-code' | 'lines';
  /** Lines of rows that an earlier part has. */
  readonly lines: readonly number[] | null;
}

/** Adds a part of an import; with the last part, all become the draft. @param rows each once */
export const importPart = (
  { site, table, importId, part, parts }: ImportPart,
  rows: readonly NumberedRow[],
): Query<PartImported> =>
  sql<PartImported>`select outcome, lines from code_table_import(${site}::uuid, ${table}::uuid, ${importId}::uuid,
    ${part}::int, ${parts}::int, ${rowsJson(rows)}::jsonb, ${MAX_ROWS}::int, ${MAX_ROWS_OF_CODE}::int)`;

/** An import whose last part is not stored yet. */
export interface ImportProgress {
  /** The newest part. */
  readonly part: number;
  readonly parts: number;
  /** The stored rows. */
  readonly rows: number;
  readonly at: string;
}

/** No row without such an import. */
export const readImport = (site: string, id: string): Query<ImportProgress> =>
  read<ImportProgress>`select max(i.part) as part, max(i.parts) as parts, sum(i.rows)::int as rows,
      ${raw(instantOf('max(i.at)'))} as at
    from code_table_import i
   where i.site_id = ${site}::uuid and i.table_id = ${id}::uuid and i.part > 0 having count(*) > 0`;

/** Changes rows of the draft. @param rows each once @param removes the rows of their codes and senders */
export const editTable = (
  { site, table }: Pick<ImportPart, 'site' | 'table'>,
  rows: readonly NumberedRow[],
  removes: boolean,
): Query<{ readonly outcome: 'done' | 'missing' | 'rows' | 'of-code' }> =>
  sql<{ outcome: 'done' | 'missing' | 'rows' | 'of-code' }>`select code_table_edit(${site}::uuid, ${table}::uuid,
    ${rowsJson(rows)}::jsonb, ${removes}, ${MAX_ROWS}::int, ${MAX_ROWS_OF_CODE}::int) as outcome`;

export type ReleaseOutcome = 'done' | 'missing' | 'version' | 'edits' | 'unchanged' | 'systems';

/** Makes a version live (migrations/functions/code_table_release.sql). */
export const releaseTable = (
  { site, table }: Pick<ImportPart, 'site' | 'table'>,
  version: number | null,
  edits: number,
  by: string,
  comment: string,
): Query<{ readonly outcome: ReleaseOutcome }> =>
  sql<{
    outcome: ReleaseOutcome;
  }>`select code_table_release(${site}::uuid, ${table}::uuid, ${version}::int, ${edits}::int,
    ${by}, ${comment}, ${MAX_SYSTEMS}::int) as outcome`;

export type DeleteOutcome = 'done' | 'missing' | 'edits' | 'live';

/** Deletes a table that no message is read by (migrations/functions/code_table_delete.sql). */
export const deleteTable = (
  { site, table }: Pick<ImportPart, 'site' | 'table'>,
  edits: number,
): Query<{ readonly outcome: DeleteOutcome }> =>
  sql<{ outcome: DeleteOutcome }>`select code_table_delete(${site}::uuid, ${table}::uuid, ${edits}::int) as outcome`;

export interface CodeMissRow extends SentCode {
  /** The newest text of a sender for it; '' without one. */
  readonly text: string;
  /** MSH-3 and MSH-4 of the newest message. */
  readonly application: string;
  readonly facility: string;
  readonly messages: string;
  readonly first_at: string;
  readonly last_at: string;
}

/**
 * Codes that the live tables miss, and that no draft has by now; the most frequent first.
 *
 * @param after messages, system and code of the last one of the page before, or null
 */
export const listCodeMisses = (site: string, after: readonly string[] | null, limit: number): Query<CodeMissRow> =>
  read<CodeMissRow>`select m.system, m.code, m.text, m.application, m.facility, m.messages::text as messages,
      ${raw(instantsOf(['m.first_at', 'm.last_at']))}
    from code_miss m
   where m.site_id = ${site}::uuid
     and not exists (
       select from code_table t
        cross join lateral (
          select from code_table_row r
           where r.site_id = t.site_id and r.table_id = t.table_id and r.content = t.content and r.system = m.system
             and r.code = m.code and r.until is null and r.application in ('', m.application)
             and r.facility in ('', m.facility) limit 1) r
        where t.site_id = m.site_id)
     and (${after?.[0] ?? null}::bigint is null or m.messages < ${after?.[0] ?? null}::bigint
       or m.messages = ${after?.[0] ?? null}::bigint and (m.system, m.code) > (${after?.[1] ?? null}::text, ${after?.[2] ?? null}::text))
   order by m.messages desc, m.system, m.code limit ${limit}::int`;
