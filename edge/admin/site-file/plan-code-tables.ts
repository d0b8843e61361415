/** Compares the code tables of a file with the live versions of its site. Their rows are CSV: one line a row, as a review reads them. */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { sha256Of } from '../../http/crypto.ts';
import {
  type CodeTableRow,
  compareTableRows,
  MAX_ROWS,
  MAX_ROWS_OF_CODE,
  MAX_SYSTEMS,
  MAX_TABLES,
  type NumberedRow,
  type RowsDifference,
  rowsOf,
  type TableRow,
} from '../../store/admin-code-table.ts';
import { inSite } from '../../store/in-site.ts';
import { checkRows, sentCsv } from '../code-tables/import.ts';
import type { Actor } from '../staff/actor.ts';
import type { SiteFile } from './file.ts';
import type { Change, Part, PlanDeps, PlanOptions } from './part.ts';
import type { PlannedMember } from './planned.ts';

interface Planned {
  readonly name: string;
  /** Undefined for a new table. */
  readonly stored: CodeTableRow | undefined;
  /** Null: no version is live. */
  readonly rows: readonly NumberedRow[] | null;
  /** By `prune`. */
  readonly isPruned?: true;
}

/** @returns null with its issues added */
function readTable(at: string, csv: string, issues: Issue[]): NumberedRow[] | null {
  const wrong = (message: string): void => void issues.push({ code: 'invalid', message, at });
  try {
    const rows = checkRows(sentCsv(csv));
    const before = issues.length;
    if (rows.length > MAX_ROWS) wrong(`has ${rows.length} rows, of at most ${MAX_ROWS}: divide it by coding system`);
    const systems = Map.groupBy(rows, ({ row }) => row.system);
    if (systems.size > MAX_SYSTEMS) wrong(`has more than ${MAX_SYSTEMS} coding systems: divide the table`);
    for (const [system, ofSystem] of systems)
      for (const [code, { length }] of Map.groupBy(ofSystem, ({ row }) => row.code))
        if (length > MAX_ROWS_OF_CODE) wrong(`has ${length} rows of ${system} ${code}, of at most ${MAX_ROWS_OF_CODE}`);
    return issues.length > before ? null : rows;
  } catch (error) {
    if (!(error instanceof Fault) || error.issues.length === 0) throw error;
    issues.push(...error.issues.map((issue) => ({ ...issue, at })));
    return null;
  }
}

const rowText = ({ system, code, application, facility, targetSystem, targetCode, display, equivalence }: TableRow) => {
  const sender = application + facility === '' ? '' : ` of ${application}/${facility}`;
  const target = [targetSystem, targetCode, display].filter((part) => part !== '').join(' ');
  return `${system} ${code}${sender} → ${target === '' ? equivalence : `${target} (${equivalence})`}`;
};

const someRows = z.array(z.custom<TableRow>());
const samplesOf = (json: string, count: number): string[] => {
  const texts = someRows.parse(JSON.parse(json)).map(rowText);
  return count > texts.length ? [...texts, `… ${count - texts.length} more`] : texts;
};

const NO_ROWS: RowsDifference = { stored: 0, removed: 0, added: 0, some_removed: '[]', some_added: '[]' };

/** @returns undefined if the table is as the file says */
async function changeOf(
  { name, stored, rows, isPruned }: Planned,
  difference: RowsDifference,
): Promise<Change | undefined> {
  const live = stored?.live ?? null;
  const { removed, added } = difference;
  const isLiveAsGiven = rows === null ? live === null : live !== null && removed + added === 0;
  if (stored !== undefined && isLiveAsGiven) return undefined;
  const count: PlannedMember = {
    member: 'liveRows',
    before: live === null ? null : difference.stored,
    after: rows === null ? null : rows.length,
  };
  const samples: PlannedMember = {
    member: 'rows',
    before: samplesOf(difference.some_removed, removed),
    after: samplesOf(difference.some_added, added),
  };
  return {
    item: {
      kind: 'code-table',
      action: stored === undefined ? 'create' : isPruned ? 'disable' : 'update',
      name,
      clientId: null,
      permissions: ['site.rules.write'],
      members: rows === null ? (stored === undefined ? [] : [count]) : [count, samples],
    },
    write: {
      kind: 'code-table',
      id: stored?.table_id ?? crypto.randomUUID(),
      name,
      isNew: stored === undefined,
      expected: live,
      content: crypto.randomUUID(),
      rows,
      digest: await sha256Of(JSON.stringify(rows && rowsOf(rows))),
    },
  };
}

/** The changes of the code tables, and the stored tables that the file leaves out. */
export async function planCodeTables(
  { database }: Pick<PlanDeps, 'database'>,
  { site }: Pick<Actor, 'site'>,
  tables: readonly CodeTableRow[],
  given: SiteFile['codeTables'],
  { prune, maxRows }: Pick<PlanOptions, 'prune' | 'maxRows'>,
): Promise<Part & { readonly unmentioned: readonly string[] }> {
  if (given === undefined) return { changes: [], issues: [], warnings: [], unmentioned: [] };
  const issues: Issue[] = [];
  const byName = new Map(tables.map((table) => [table.name, table]));
  const seen = new Set<string>();
  const planned: Planned[] = [];
  for (const [index, { name, csv }] of given.entries()) {
    const at = `codeTables[${index}]`;
    if (seen.has(name)) issues.push({ code: 'invalid', message: 'is in the file twice', at: `${at}.name` });
    seen.add(name);
    const stored = byName.get(name);
    if (csv === undefined && stored !== undefined) continue;
    planned.push({ name, stored, rows: typeof csv === 'string' ? readTable(`${at}.csv`, csv, issues) : null });
  }
  const all = planned.reduce((sum, { rows }) => sum + (rows?.length ?? 0), 0);
  if (all > maxRows) {
    const message = `have ${all} rows, of at most ${maxRows} at once: apply the file with npm run admin and DATABASE_URL, or import them with code-table import`;
    issues.push({ code: 'invalid', message, at: 'codeTables' });
  }
  const made = planned.filter(({ stored }) => stored === undefined).length;
  if (tables.length + made > MAX_TABLES)
    issues.push({ code: 'invalid', message: `a site may have ${MAX_TABLES} code tables`, at: 'codeTables' });
  const unmentioned = tables.filter(({ name }) => !seen.has(name));
  if (issues.length > 0) return { changes: [], issues, warnings: [], unmentioned: [] };

  const pruned = prune ? unmentioned.filter(({ live }) => live !== null) : [];
  planned.push(...pruned.map((stored): Planned => ({ name: stored.name, stored, rows: null, isPruned: true })));
  const [changes, warnings]: [Change[], string[]] = [[], []];
  // One after the other: each may have 200,000 rows.
  for (const each of planned) {
    const { name, stored, rows } = each;
    const compared = compareTableRows(site, stored?.table_id ?? crypto.randomUUID(), stored?.live ?? null, rows ?? []);
    const [difference = NO_ROWS] = await inSite(database, site).run(compared);
    const change = await changeOf(each, difference);
    if (change === undefined) continue;
    changes.push(change);
    const hasDraft = stored !== undefined && stored.is_changed && (stored.draft > 1 || stored.rows > 0);
    if (hasDraft && rows !== null)
      warnings.push(`The draft of the code table ${JSON.stringify(name)} has other changes. It stays as it is.`);
  }
  return {
    changes,
    issues,
    warnings,
    unmentioned: unmentioned.filter((table) => !pruned.includes(table)).map(({ name }) => name),
  };
}
