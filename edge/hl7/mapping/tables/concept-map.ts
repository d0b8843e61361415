/** The shape of a concept map: a code of an HL7 v2 table to a code of FHIR. */

export interface TargetCode {
  readonly system: string;
  readonly code: string;
  readonly display: string;
}

export interface ConceptMap {
  /** How CWE.3 names the table: `HL70002`. */
  readonly table: string;
  readonly codes: ReadonlyMap<string, TargetCode>;
}

type Entry = readonly [code: string, display: string, system?: string];

/** @param system of every entry that names none of its own */
export function conceptMap(table: string, system: string, entries: Readonly<Record<string, Entry>>): ConceptMap {
  return {
    table,
    codes: new Map(
      Object.entries(entries).map(([from, [code, display, own]]) => [from, { system: own ?? system, code, display }]),
    ),
  };
}

/** Entries of a map that keeps the codes and gives them a system: code to display. */
export function same(displays: Readonly<Record<string, string>>): Readonly<Record<string, Entry>> {
  return Object.fromEntries(Object.entries(displays).map(([code, display]) => [code, [code, display]]));
}
