/**
 * Patient records as the database last returned them, separate for each site, and the rows that a lookup would find in them.
 * They may be stale: the commit compares them with the database (`hl7_store`).
 */
import { MAX_FOUND_PATIENTS, type LookupKeys, type MatchRow } from '../../../store/hl7-snapshot.ts';
import { identifierRowOf } from '../../../store/patient-identity.ts';
import { parseStored } from '../../../store/resource.ts';
import { replacementIdOf } from '../../patients/survivor.ts';
import type { Bounded } from '../../../http/bounded.ts';

/** A laboratory message has a few hundred. With more, `hl7_matches` does not return which key found a row. */
const MAX_KEYS = 1_000;

/** Rows are kept under an identifier's value, a patient, or a patient and an HL7 key. */
const ofValue = (value: string): string => `value ${value}`;
const ofPatient = (id: string): string => `patient ${id}`;
const ofKey = (id: string, { type, key }: LookupKeys['keys'][number]): string => `key ${id} ${type} ${key}`;

/** Checks that each key alone finds its rows. A merge and a narrowed lookup find rows by several. */
export const isLookupByKey = ({ keys }: LookupKeys): boolean =>
  keys.length <= MAX_KEYS && keys.every(({ type, key }) => key !== '' && type !== 'Patient');

export interface RecordCache {
  /** @returns all rows that the lookup found last; undefined if a part is missing */
  readonly recall: (site: string, lookup: LookupKeys, nowMs: number) => readonly MatchRow[] | undefined;
  /** @param rows all rows of a lookup; the content of a resource is `''` if it is unknown */
  readonly keep: (site: string, lookup: LookupKeys, rows: readonly MatchRow[], nowMs: number) => void;
}

export function createRecordCache(memory: Bounded<readonly MatchRow[]>): RecordCache {
  return {
    recall: (site, lookup, nowMs) => {
      if (!isLookupByKey(lookup)) return undefined;
      const numbers = lookup.identifierValues.flatMap((value) => memory.get(site, ofValue(value), nowMs) ?? []);
      const rows = [...numbers];
      const patients = new Set(numbers.map(({ id }) => id));
      // The set grows by survivors, which are then visited too.
      for (const id of patients) {
        const known = memory.get(site, ofPatient(id), nowMs);
        if (known === undefined) return undefined;
        rows.push(...known);
        for (const survivor of known.flatMap((row) => replacedBy(row) ?? [])) patients.add(survivor);
      }
      const found = [...patients].flatMap((id) =>
        lookup.keys.flatMap((key) => memory.get(site, ofKey(id, key), nowMs) ?? []),
      );
      return [...rows, ...eachOnce(found)];
    },
    keep: (site, lookup, rows, nowMs) => {
      const keep = (key: string, found: readonly MatchRow[]): void => {
        if (found.length === 0 || found.some(isUnknown)) return memory.forget(site, key);
        memory.keep(
          site,
          key,
          found,
          found.reduce((sum, row) => sum + bytesOf(row), 0),
          nowMs,
        );
      };
      const numbers = Map.groupBy(
        rows.filter(({ role }) => role === 'number'),
        ({ key }) => identifierRowOf(key)[1],
      );
      for (const value of lookup.identifierValues) {
        const found = numbers.get(value) ?? [];
        const isCrowd = new Set(found.map(({ id }) => id)).size >= MAX_FOUND_PATIENTS;
        keep(ofValue(value), isCrowd ? [] : found);
      }
      const ofPatients = Map.groupBy(
        rows.filter(({ role }) => role === 'patient' || role === 'trait'),
        ({ id }) => id,
      );
      for (const [id, found] of ofPatients) keep(ofPatient(id), found);
      if (!isLookupByKey(lookup)) return;
      const found = rows.flatMap((row) => (row.asked ?? []).map((asked) => ({ asked, row })));
      const ofKeys = Map.groupBy(found, ({ asked, row: { role, key } }) => `${asked} ${patientOf(role, key)}`);
      for (const id of ofPatients.keys()) {
        for (const [at, key] of lookup.keys.entries())
          keep(ofKey(id, key), ofKeys.get(`${at + 1} ${id}`)?.map(({ row }) => row) ?? []);
      }
    },
  };
}

/** Several keys may find one result; the newest version counts. */
function eachOnce(rows: readonly MatchRow[]): MatchRow[] {
  const found = new Map<string, MatchRow>();
  for (const row of rows) {
    const name = `${row.role} ${row.type} ${row.role === 'result' ? row.id : row.key}`;
    if ((found.get(name)?.version ?? 0) <= row.version) found.set(name, row);
  }
  return [...found.values()];
}

/** The patient of a key: HL7 keys end in '@' and the patient's id, result keys begin with it. */
function patientOf(role: MatchRow['role'], key: string): string {
  if (role === 'identity') return key.slice(key.lastIndexOf('@') + 1);
  const parsed: unknown = role === 'result' ? JSON.parse(key) : undefined;
  return Array.isArray(parsed) ? String(parsed[0]) : '';
}

const isUnknown = ({ role, body }: MatchRow): boolean => body === '' && role !== 'number' && role !== 'trait';

/** A character needs two bytes at most, and a row's objects a few hundred. */
const bytesOf = ({ key, meta, body, contributions, state }: MatchRow): number =>
  400 + 2 * (key.length + meta.length + body.length + (contributions ?? '').length + state.length);

/** The survivor that a patient's record names, as `hl7_matches` follows it. */
const replacedBy = (row: MatchRow): string | undefined =>
  row.role === 'patient' && row.body.includes('"replaced-by"') ? replacementIdOf(parseStored(row)) : undefined;
