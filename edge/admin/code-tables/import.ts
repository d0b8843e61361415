/** Imports and edits the rows of a code table's draft, with the place of each fault. */
import * as z from 'zod';

import { Fault, type Issue, type Place, printPlace } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import {
  editTable,
  importPart,
  MAX_ROWS,
  MAX_ROWS_OF_CODE,
  type ImportPart,
  type NumberedRow,
  type TableRow,
} from '../../store/admin-code-table.ts';
import { inSite } from '../../store/in-site.ts';
import { parse } from '../api/parse.ts';
import { type Actor, requirePermission } from '../staff/actor.ts';
import { conceptMapBody, elementOf, rowsOfConceptMap } from './concept-map.ts';
import { readCsv } from './csv.ts';
import { readRow, type RowFault, rowBody, type SentRow } from './rows.ts';
import { idOf, noSuchTable, type RowsConfig, systemsOf } from './tables.ts';

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
      description: 'The line of the complete file where this part of a CSV begins, for the lines of faults.',
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

/** Rows as sent, by their lines: those of a CSV, otherwise counted from 1. */
interface Sent {
  readonly lines: readonly { readonly line: number; readonly row: SentRow }[];
  /** @param member undefined for the complete row */
  readonly placeOf: (line: number, member?: keyof TableRow) => Place;
}

/** @param firstLine the line of the first line of the text @throws Fault `invalid` with the line */
export function sentCsv(csv: string, firstLine = 1): Sent {
  try {
    const lines = readCsv(csv).map(({ line, row }) => ({ line: line + firstLine - 1, row }));
    return { lines, placeOf: (line) => ({ line }) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw error.with({ issues: error.issues.map((issue) => ({ ...issue, line: (issue.line ?? 1) + firstLine - 1 })) });
  }
}

const numbered = (rows: readonly SentRow[]): Sent['lines'] => rows.map((row, at) => ({ line: at + 1, row }));

/** A ConceptMap, parsed from JSON. @throws Fault `invalid` with the element */
export async function sentConceptMap(
  config: RowsConfig,
  database: Database,
  site: string,
  given: unknown,
): Promise<Sent> {
  const { conceptMap } = parse(z.object({ conceptMap: conceptMapBody }), { conceptMap: given });
  const rows = rowsOfConceptMap(conceptMap, await systemsOf(config, database, site));
  return {
    lines: numbered(rows.map(({ row }) => row)),
    placeOf(line, member) {
      const path = rows[line - 1]?.path ?? '';
      return { at: `conceptMap.${member === undefined ? path : elementOf(path, member)}` };
    },
  };
}

const sentAsRows = (rows: readonly SentRow[]): Sent => ({
  lines: numbered(rows),
  placeOf: (line, member) => ({ at: `rows[${line - 1}]${member === undefined ? '' : `.${member}`}` }),
});

async function readSent(
  config: RowsConfig,
  database: Database,
  site: string,
  { rows = [], csv, conceptMap }: Pick<ImportBody, keyof typeof sentRows>,
  firstLine = 1,
): Promise<Sent> {
  if (csv !== undefined) return sentCsv(csv, firstLine);
  return conceptMap === undefined ? sentAsRows(rows) : sentConceptMap(config, database, site, conceptMap);
}

/** More are not reported. */
const MAX_FAULTS = 100;

/** Without a member, the message is about the row. */
type LineFault = Pick<RowFault, 'message'> & Partial<RowFault> & { readonly line: number };

const faulty = (placeOf: Sent['placeOf'], faults: readonly LineFault[]): Fault => {
  const issues = faults.slice(0, MAX_FAULTS).map(({ line, member, message }): Issue => {
    const text = member === undefined ? message : `${member} ${message}`;
    return { code: 'invalid', message: text, ...placeOf(line, member) };
  });
  return new Fault('invalid', 'the rows are not valid: nothing was changed', { issues });
};

const keyOfRow = ({ system, code, application, facility, targetSystem, targetCode }: TableRow): string =>
  [system, code, application, facility, targetSystem, targetCode].join('\n');

/** @throws Fault `invalid` with the place of each fault */
export function checkRows({ lines, placeOf }: Sent): NumberedRow[] {
  const faults: LineFault[] = [];
  const seen = new Map<string, number>();
  const rows = lines.flatMap(({ line, row }): NumberedRow[] => {
    const found = readRow(row);
    if (!('code' in found)) {
      faults.push(...found.map((fault) => ({ line, ...fault })));
      return [];
    }
    const key = keyOfRow(found);
    const same = seen.get(key);
    if (same !== undefined)
      faults.push({ line, message: `${printPlace(placeOf(same))} has the same code, sender and target` });
    seen.set(key, line);
    return [{ line, row: found }];
  });
  if (faults.length > 0) throw faulty(placeOf, faults);
  return rows;
}

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
 * @throws Fault `invalid` with the place of each fault, `conflict` if another import has begun
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
  const sent = await readSent(config, database, site, body, body.firstLine);
  return addPart(database, { site, table: idOf(given), importId, part, parts }, checkRows(sent), sent.placeOf);
}

/** @returns true with the last part */
async function addPart(
  database: Database,
  of: ImportPart,
  rows: readonly NumberedRow[],
  placeOf: Sent['placeOf'],
): Promise<boolean> {
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
    case 'lines': {
      const message = 'an earlier part has the same code, sender and target';
      throw faulty(
        placeOf,
        (imported.lines ?? []).map((line) => ({ line, message })),
      );
    }
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
  sent: Sent,
  show: (done: number, all: number) => void,
): Promise<void> {
  const rows = checkRows(sent);
  const parts = Math.max(1, Math.ceil(rows.length / ROWS_OF_PART));
  const of = { site: actor.site, table, importId: crypto.randomUUID(), parts };
  for (let part = 1; part <= parts; part += 1) {
    const some = rows.slice((part - 1) * ROWS_OF_PART, part * ROWS_OF_PART);
    await addPart(database, { ...of, part }, some, sent.placeOf);
    show(Math.min(part * ROWS_OF_PART, rows.length), rows.length);
  }
}

/** Sets or removes rows of the draft. @throws Fault `invalid` with the place of each fault */
export async function editRows(
  config: RowsConfig,
  database: Database,
  actor: Actor,
  given: string,
  { change, ...body }: z.infer<typeof editBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const rows = checkRows(await readSent(config, database, site, body));
  const of = { site, table: idOf(given) };
  const [edited] = await inSite(database, site).run(editTable(of, rows, change === 'remove'));
  if (edited?.outcome !== 'done') throw faultOf(edited?.outcome);
}
