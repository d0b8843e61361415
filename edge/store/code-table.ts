/** Code tables in the database, as messages read them (`hl7_codes` in migrations/functions). */
import type { Query } from '../deps.ts';
import { sourceSystem } from './coding-systems.ts';
import { read, sql } from './sql.ts';

/** FHIR R4, concept-map-equivalence; of the target to the sender's code. */
export const EQUIVALENCES = [
  'equivalent',
  'equal',
  'wider',
  'subsumes',
  'narrower',
  'specializes',
  'inexact',
  'relatedto',
  'unmatched',
  'disjoint',
] as const;
export type Equivalence = (typeof EQUIVALENCES)[number];

/** A live version of a code table (site.code_tables). */
export interface LiveTable {
  readonly id: string;
  readonly version: number;
  readonly content: string;
  /** The coding systems of its rows, as `sourceSystem`. */
  readonly systems: readonly string[];
}

/** A code of a message, as code tables compare it: case counts, white space around it does not. */
export interface SentCode {
  /** As `sourceSystem`. */
  readonly system: string;
  readonly code: string;
}

export const sentCode = (name: string | undefined, code: string): SentCode => ({ system: sourceSystem(name), code });

/** As a key of a Map. A code has no line feed. */
export const keyOfCode = ({ system, code }: SentCode): string => `${system}\n${code}`;

/** A row of a live table. */
export type CodeRow = readonly [
  /** MSH-3 and MSH-4 of the sender that it is for; '' for any. */
  application: string,
  facility: string,
  targetSystem: string,
  targetCode: string,
  display: string,
  equivalence: Equivalence,
];

/** `hl7_codes`: rows by the position of their code. */
type FoundCode = readonly [position: number, ...row: CodeRow];

export const codeParams = (codes: readonly SentCode[]) => [
  codes.map(({ system }) => system),
  codes.map(({ code }) => code),
];

/** The rows of these versions of tables for codes, as JSON; null for none. */
export function findCodes(
  site: string,
  tables: readonly LiveTable[],
  codes: readonly SentCode[],
): Query<{ readonly rows: string | null }> {
  const [systems = [], values = []] = codeParams(codes);
  return read<{
    rows: string | null;
  }>`select hl7_codes(${site}::uuid, ${JSON.stringify(tables)}::jsonb, ${systems}::text[],
    ${values}::text[]) as rows`;
}

/** The rows of each code by `keyOfCode`; none for a code that no table has. */
export type CodeRows = ReadonlyMap<string, readonly CodeRow[]>;

export function readCodeRows(codes: readonly SentCode[], found: unknown): CodeRows {
  const rows = new Map<string, CodeRow[]>(codes.map((code) => [keyOfCode(code), []]));
  for (const [position, ...row] of (found ?? []) as readonly FoundCode[]) {
    const code = codes[position];
    if (code !== undefined) rows.get(keyOfCode(code))?.push(row);
  }
  return rows;
}

/** A code that live tables miss, in some messages of a site. */
export interface CodeMiss extends SentCode {
  /** The sender's text for it; '' without one. */
  readonly text: string;
  /** MSH-3 and MSH-4. */
  readonly application: string;
  readonly facility: string;
  readonly messages: number;
}

/** Above what a person maps in some sittings. */
const MAX_MISSES = 5000;

/** Adds them to the list of the site. @param misses each code once */
export const noteCodeMisses = (site: string, misses: readonly CodeMiss[]): Query =>
  sql`select code_misses_note(${site}::uuid, ${JSON.stringify(misses)}::json, ${MAX_MISSES}::int)`;
