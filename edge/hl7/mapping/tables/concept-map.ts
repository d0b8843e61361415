/** A concept map: codes of an HL7 v2 table with their FHIR codes. */

interface TargetCode {
  readonly system: string;
  readonly code: string;
  readonly display: string;
}

export interface ConceptMap {
  /** The table in CWE.3: `HL70002`. */
  readonly table: string;
  readonly codes: ReadonlyMap<string, TargetCode>;
}

type Entry = readonly [code: string, display: string, system?: string];

/** @param system the default of the entries */
export function conceptMap(table: string, system: string, entries: Readonly<Record<string, Entry>>): ConceptMap {
  return {
    table,
    codes: new Map(
      Object.entries(entries).map(([from, [code, display, own]]) => [from, { system: own ?? system, code, display }]),
    ),
  };
}

/** Entries that keep their codes and get a system: code to display. */
export function same(displays: Readonly<Record<string, string>>): Readonly<Record<string, Entry>> {
  return Object.fromEntries(Object.entries(displays).map(([code, display]) => [code, [code, display]]));
}
