/** A site in memory that keeps what messages make, so that histories of messages can be tried by the thousand. */
import { decide } from '../../edge/hl7/ingest/decide.ts';
import { openBytes, readOpened } from '../../edge/hl7/ingest/reading.ts';
import type { SenderRule } from '../../edge/members/sender-rules.ts';
import type { Found, FoundPatient } from '../../edge/hl7/mapping/drafts.ts';
import type { NewAttention } from '../../edge/store/attention.ts';
import type { ResultRow } from '../../edge/store/hl7-result.ts';
import type { KnownBy, IdentifierRow } from '../../edge/store/patient-identity.ts';
import type { StoredResource } from '../../edge/store/resource.ts';
import { parseJson, sortedJson, type Json } from '../../shared/json.ts';
import { bytesOf } from '../stack/tools/hl7-text.ts';
import { idAt } from '../stack/tools/id-at.ts';
import { RECEIVED, SETTINGS } from './hl7-mapped.ts';

export interface World {
  /** @returns its findings, `W 205 OBX^1 stale`; a message that is refused throws */
  readonly send: (message: string) => readonly string[];
  /** The stored state, with HL7 keys in the place of ids, without versions: equal texts are equal states. */
  readonly state: () => string;
  readonly attention: readonly NewAttention[];
  readonly resources: () => readonly StoredResource[];
  /** The identifiers and traits of the patients. */
  readonly known: () => readonly FoundPatient[];
}

/** The time of receipt of all messages, far behind the times in them. */
const RECEIVED_MS = Date.parse('2026-06-01T00:00:00Z');

/** @param rules the rules of the key that sends the messages */
export function createWorld(rules: readonly SenderRule[] = []): World {
  const live = rules.length === 0 ? null : { version: 1, rules };
  const resources = new Map<string, StoredResource>();
  const keys = new Map<string, { readonly type: string; readonly key: string; readonly id: string }>();
  const results = new Map<string, ResultRow>();
  const orders = new Map<string, string>();
  const known = new Map<string, FoundPatient>();
  const attention: NewAttention[] = [];
  let received = RECEIVED_MS;

  const foundAs = (role: Found['role'], key: string, type: string, id: string): Found[] => {
    const resource = resources.get(`${type}/${id}`);
    const fields = orders.get(`${type}/${id}`);
    const contributions = fields === undefined ? null : `{"fields":${fields},"stamps":{}}`;
    return resource === undefined ? [] : [{ role, key, resource, contributions }];
  };

  return {
    attention,
    resources: () => [...resources.values()],
    known: () => [...known.values()],
    send: (message) => {
      received += 1000;
      const patients = [...resources.values()].filter(({ type }) => type === 'Patient');
      const { outcome, findings, effects } = decide({
        reading: readOpened(openBytes(bytesOf(message), 'utf-8'), live),
        settings: SETTINGS,
        found: [
          ...patients.flatMap(({ type, id }) => foundAs('patient', '', type, id)),
          ...[...keys.values()].flatMap(({ type, key, id }) => foundAs('identity', key, type, id)),
          ...[...results.values()].flatMap((row) => foundAs('result', keyOfResult(row), row.type, row.id)),
        ],
        patients: [...known.values()],
        ...RECEIVED,
        messageId: idAt(received),
        nowMs: received,
        fhirBase: undefined,
      });
      const reported = findings.map(({ severity, code, at, reason }) => `${severity} ${code} ${at} ${reason}`);
      if (outcome !== 'AA') throw new Error(`${outcome}: ${reported.join(', ')}`);
      for (const { type, id, meta, body, known: said } of effects.writes) {
        if (said !== null) known.set(id, joined(id, said, known.get(id)));
        const version = (resources.get(`${type}/${id}`)?.version ?? 0) + 1;
        resources.set(`${type}/${id}`, { type, id, version, last_updated: '', meta, body });
      }
      for (const { patient, authority, value, led: isLed } of effects.moved) {
        const before = known.get(patient);
        const isMoved = ([itsAuthority, itsValue, , led]: IdentifierRow) =>
          itsAuthority === authority && itsValue === value && (isLed || !led);
        if (before !== undefined)
          known.set(patient, { ...before, numbers: before.numbers.filter((row) => !isMoved(row)) });
      }
      for (const { gone } of effects.met) if (gone !== null) results.delete(gone);
      for (const { from, to, isAbsorbed } of effects.merges) {
        // As hl7_merge moves keys.
        for (const row of results.values()) if (row.patientId === from) results.set(row.id, { ...row, patientId: to });
        for (const [name, { type, key, id }] of keys) {
          if (!key.endsWith(`@${from}`)) continue;
          keys.delete(name);
          const moved = { type, key: key.replace(`@${from}`, `@${to}`), id };
          if (!keys.has(`${type} ${moved.key}`)) keys.set(`${type} ${moved.key}`, moved);
        }
        for (const [name, resource] of resources) {
          if (resource.type === 'Patient') continue;
          resources.set(name, { ...resource, body: resource.body.replaceAll(`"Patient/${from}"`, `"Patient/${to}"`) });
        }
        const gone = known.get(from);
        if (isAbsorbed === true && gone !== undefined) known.set(from, { ...gone, numbers: [] });
      }
      for (const key of effects.identities) keys.set(`${key.type} ${key.key}`, key);
      for (const row of effects.results) results.set(row.id, row);
      for (const { type, id, fields } of effects.precedences) orders.set(`${type}/${id}`, fields);
      attention.push(...effects.attention);
      return reported;
    },
    state: () => {
      const names = new Map([...resources.values()].map(({ type, id }) => [id, type]));
      for (const { key, id } of keys.values())
        if (!key.startsWith('replaces')) names.set(id, key.slice(0, key.indexOf('@')));
      for (const { id, what, at, place } of results.values()) names.set(id, `${what} ${at} ${place}`);
      const named = (text: string): string =>
        [...names].reduce((all, [id, name]) => all.replaceAll(id, JSON.stringify(name).slice(1, -1)), text);
      const states = [...resources.values()].map(({ type, id, body }) => {
        return `${type} ${names.get(id)} ${sortedJson(withSets(parseJson(named(`{${body}}`))))}`;
      });
      return states.sort().join('\n');
    },
  };
}

/** A patient's known identifiers and traits accumulate, except identifiers that move to the patient they lead to. */
function joined(id: string, { numbers, traits }: KnownBy, before: FoundPatient | undefined): FoundPatient {
  const all = [...(before?.numbers ?? []), ...numbers].toSorted((a, b) => Number(b[3]) - Number(a[3]));
  const each = new Map(all.toReversed().map((row) => [JSON.stringify(row.slice(0, 2)), row]));
  return { id, numbers: [...each.values()], traits: [...new Set([...(before?.traits ?? []), ...traits])] };
}

/** As `hl7_matches` gives it back. */
const keyOfResult = ({ patientId, what, at, place, numbers }: ResultRow): string =>
  JSON.stringify([patientId, what, at, place, JSON.parse(numbers)]);

/** The order of extensions, and of what is only added, means nothing. */
export function withSets(content: Json): Json {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => {
      const isSet = ['extension', 'result', 'relatesTo', 'link'].includes(name);
      return [name, isSet && Array.isArray(value) ? value.map(sortedJson).sort() : value];
    }),
  );
}
