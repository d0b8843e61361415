/** The resources of one patient, stored and created by the message, by their HL7 keys. */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Draft, Drafts } from './drafts.ts';
import { keyOf } from './key.ts';

export interface PatientRecord {
  readonly patient: Draft;
  /** The result or report that begins with this segment of the message. */
  readonly resultOf: (segment: Segment) => Draft | undefined;
  readonly find: (type: ResourceType, key: string) => Draft | undefined;
  /** The documents with a number, of any authority, as far as they were looked up. */
  readonly documentsNumbered: (number: string) => readonly Draft[];
  readonly create: (type: ResourceType, key: string) => Draft;
  /** Adds another key to a resource. */
  readonly addKey: (draft: Draft, key: string) => void;
  readonly apply: Drafts['apply'];
  readonly supersede: Drafts['supersede'];
  readonly rewrite: Drafts['rewrite'];
  readonly remember: Drafts['remember'];
}

/**
 * @param newId creates the id of a new resource
 * @param results the results and reports of the message, by their segments
 */
export function patientRecord(
  patient: Draft,
  drafts: Drafts,
  newId: () => string,
  results: ReadonlyMap<Segment, Draft>,
): PatientRecord {
  let numbered: Map<string, Draft[]> | undefined;
  return {
    patient,
    documentsNumbered: (number) => {
      numbered ??= documentsByNumber(patient.id, drafts);
      return numbered.get(number) ?? [];
    },
    resultOf: (segment) => results.get(segment),
    find: (type, key) => drafts.byKey(type, keyOf(key, patient.id)),
    create: (type, key) => drafts.create(type, newId(), keyOf(key, patient.id)),
    addKey: (draft, key) => drafts.addKey(draft, keyOf(key, patient.id)),
    apply: drafts.apply,
    supersede: drafts.supersede,
    rewrite: drafts.rewrite,
    remember: drafts.remember,
  };
}

/** The key of a document begins with its number. A key under which another document replaced it does not count. */
export function documentsByNumber(patientId: string, drafts: Drafts): Map<string, Draft[]> {
  const found = new Map<string, Draft[]>();
  for (const { key, draft } of drafts.keysOf(patientId)) {
    if (draft.type !== 'DocumentReference' || !key.startsWith('[')) continue;
    const parts: unknown = JSON.parse(key);
    const number: unknown = Array.isArray(parts) ? parts[0] : undefined;
    if (typeof number !== 'string') continue;
    const known = found.get(number);
    if (known === undefined) found.set(number, [draft]);
    else if (!known.includes(draft)) known.push(draft);
  }
  return found;
}
