/**
 * The resources one message makes or changes, as they become: what was found in the database, what is new, and what is
 * written in the end. It knows nothing of segments.
 */
import { isJsonObject, sortedJson, type JsonObject } from '../../../shared/json.ts';
import { isResourceType, type ResourceType } from '../../../shared/resource-type.ts';
import type { NumberRow } from '../../store/patient-identity.ts';
import { parseStored, toWrite, type ResourceWrite, type StoredResource } from '../../store/resource.ts';
import { applyStatement, supersede, type Applied } from '../precedence/apply.ts';
import { combined } from '../precedence/combine.ts';
import type { Recorded } from '../precedence/stated-value.ts';
import { editIdentifiers } from '../precedence/identifiers.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { nothingRemembered, printRegisters, rememberedOf, type Remembered } from '../precedence/registers.ts';
import type { Contribution } from '../precedence/contribution.ts';
import { keyOf } from './key.ts';

/** A row that the lookup found. */
export interface Found {
  /** `patient`: by identifier or by the link of a merge. `identity`: by an HL7 key. `result`: by `results/result-key.ts`. */
  readonly role: 'patient' | 'identity' | 'result';
  /** Of an identity: the HL7 key, ending in `@` and the patient's id. Of a result: all that tells it from others, as JSON. */
  readonly key: string;
  readonly resource: StoredResource;
  /** The row of hl7_precedence as JSON: `{ fields, stamps }`. */
  readonly contributions: string | null;
}

export interface Draft {
  readonly type: ResourceType;
  readonly id: string;
  readonly stored: StoredResource | undefined;
  /** Members without resourceType, id and meta. */
  content: JsonObject;
  /** Who said what of it when, in the order of time. */
  remembered: Remembered;
  /** Of a patient: the numbers that it is known by, as far as they were looked for, and those that this message taught. */
  readonly numbers: NumberRow[];
  /** Of those, the ones that this message taught. */
  readonly taught: NumberRow[];
  /** Of a patient: what its chart has once said of the person (`KnownBy`). */
  readonly traits: readonly string[];
}

/** What the look-up says of a patient beside its record. */
export interface FoundPatient {
  readonly id: string;
  readonly numbers: readonly NumberRow[];
  readonly traits: readonly string[];
}

export interface Drafts {
  readonly patients: () => readonly Draft[];
  readonly byId: (type: ResourceType, id: string) => Draft | undefined;
  /** The resource that an HL7 key stands for, in the database or made by this message. */
  readonly byKey: (type: ResourceType, key: string) => Draft | undefined;
  readonly create: (type: ResourceType, id: string, key?: string) => Draft;
  /** One more HL7 key for a resource. */
  readonly addKey: (draft: Draft, key: string) => void;
  /** What of a patient is known by HL7 keys, as far as it was looked for; the keys without the patient. */
  readonly keysOf: (patientId: string) => readonly { readonly key: string; readonly draft: Draft }[];
  /** A key that `hl7_merge` will give to a resource. */
  readonly expectKey: (draft: Draft, key: string) => void;
  readonly apply: (
    draft: Draft,
    contributions: readonly Contribution[],
    precedence: Precedence,
    isWithdrawal?: boolean,
  ) => Pick<Applied, 'isStale' | 'isTied'>;
  /** Another record of the same thing: what it says later holds. */
  readonly absorb: (draft: Draft, other: Recorded) => Pick<Applied, 'isTied'>;
  /** Another document has taken its place. */
  readonly supersede: (draft: Draft, precedence: Precedence) => void;
  /** Content in other words: it says what it said, so that nobody's order changes. */
  readonly rewrite: (draft: Draft, content: JsonObject) => void;
  /** Marks a resource as one that the message speaks of, also when nothing of it changes. */
  readonly touch: (draft: Draft) => void;
  /** The patient is known by these numbers as well. */
  readonly teach: (draft: Draft, numbers: readonly NumberRow[]) => void;
  /** Takes away a number by which the patient was only listed. */
  readonly forget: (draft: Draft, number: { readonly domain: string; readonly value: string }) => void;
  /** Changes the identifiers of a patient where they stand. */
  readonly identifiers: (draft: Draft, change: (items: readonly JsonObject[]) => readonly JsonObject[]) => void;
  readonly result: (source: string) => DraftResult;
}

export interface DraftResult {
  readonly resources: readonly JsonObject[];
  readonly writes: readonly ResourceWrite[];
  readonly identities: readonly { readonly type: ResourceType; readonly key: string; readonly id: string }[];
  readonly precedences: readonly { readonly type: ResourceType; readonly id: string; readonly fields: string }[];
}

/** @param names system URIs of assigning authorities, by their names in capitals */
export function createDrafts(
  found: readonly Found[],
  patients: readonly FoundPatient[] = [],
  names: ReadonlyMap<string, string> = new Map(),
): Drafts {
  const ofPatient = new Map(patients.map((patient) => [patient.id, patient]));
  const drafts = new Map<string, Draft>();
  const keys = new Map<string, Draft>();
  const newKeys: { type: ResourceType; key: string; id: string }[] = [];
  const touched = new Set<Draft>();
  const at = (type: string, id: string): string => `${type}/${id}`;
  const addKey = (draft: Draft, key: string): void => {
    keys.set(at(draft.type, key), draft);
    newKeys.push({ type: draft.type, key, id: draft.id });
  };
  const change = (draft: Draft, { content, remembered }: Recorded): void => {
    touched.add(draft);
    draft.content = content;
    draft.remembered = remembered;
  };

  for (const { role, key, resource, contributions } of found) {
    const { type } = resource;
    if (!isResourceType(type)) continue;
    const { resourceType: _type, id: _id, meta: _meta, ...content } = parseStored(resource);
    const known = drafts.get(at(resource.type, resource.id));
    const draft: Draft = known ?? {
      type,
      id: resource.id,
      stored: resource,
      content,
      remembered: rememberedOf(resource.id, contributions),
      numbers: [...(ofPatient.get(resource.id)?.numbers ?? [])],
      taught: [],
      traits: ofPatient.get(resource.id)?.traits ?? [],
    };
    drafts.set(at(resource.type, resource.id), draft);
    if (role === 'identity') keys.set(at(resource.type, key), draft);
  }

  return {
    patients: () => [...drafts.values()].filter(({ type }) => type === 'Patient'),
    byId: (type, id) => drafts.get(at(type, id)),
    byKey: (type, key) => keys.get(at(type, key)),
    create: (type, id, key) => {
      const made = {
        stored: undefined,
        content: {},
        remembered: nothingRemembered,
        numbers: [],
        taught: [],
        traits: [],
      };
      const draft: Draft = { type, id, ...made };
      drafts.set(at(type, id), draft);
      touched.add(draft);
      if (key !== undefined) addKey(draft, key);
      return draft;
    },
    addKey,
    keysOf: (patientId) => {
      const end = keyOf('', patientId);
      return [...keys].flatMap(([name, draft]) =>
        name.endsWith(end) ? [{ key: name.slice(at(draft.type, '').length, -end.length), draft }] : [],
      );
    },
    expectKey: (draft, key) => void keys.set(at(draft.type, key), draft),
    absorb: (draft, other) => {
      const said = combined(draft, other);
      change(draft, said);
      return said;
    },
    apply: (draft, contributions, precedence, isWithdrawal = false) => {
      const whose = { isPatient: draft.type === 'Patient', names, isWithdrawal };
      const said = applyStatement(draft.content, draft.remembered, contributions, precedence, whose);
      change(draft, said);
      return said;
    },
    supersede: (draft, precedence) => change(draft, supersede(draft.content, draft.remembered, precedence)),
    rewrite: (draft, content) => change(draft, { ...draft, content }),
    touch: (draft) => void touched.add(draft),
    teach: (draft, numbers) => {
      touched.add(draft);
      draft.numbers.push(...numbers);
      draft.taught.push(...numbers);
    },
    forget: (draft, { domain, value }) => {
      touched.add(draft);
      const at = draft.numbers.findIndex((row) => row[0] === domain && row[1] === value && !row[3]);
      if (at >= 0) draft.numbers.splice(at, 1);
    },
    identifiers: (draft, edit) => {
      const { content, remembered } = draft;
      const items = Array.isArray(content['identifier']) ? content['identifier'].filter(isJsonObject) : [];
      const identifier = [...edit(items)];
      const registers = editIdentifiers(items, identifier, remembered.registers, names);
      change(draft, { content: { ...content, identifier }, remembered: { ...remembered, registers } });
    },
    result: (source) => ({
      resources: [...touched].map((draft) => ({ ...asResource(draft, source) })),
      writes: [...touched].map((draft) => writeOf(draft, source)),
      identities: newKeys,
      precedences: [...touched].map(({ type, id, remembered }) => ({
        type,
        id,
        fields: printRegisters(remembered.registers),
      })),
    }),
  };
}

function asResource({ type, id, stored, content }: Draft, source: string): JsonObject {
  const meta = stored === undefined ? {} : parseStored(stored)['meta'];
  return { resourceType: type, id, meta: { ...(isJsonObject(meta) ? meta : {}), source }, ...content };
}

/** A resource that says what it said before is written as it stands: it keeps its version and its source. */
function writeOf(draft: Draft, source: string): ResourceWrite {
  const { stored, id, content, taught } = draft;
  const resource = asResource(draft, source);
  const made = toWrite(resource, id, stored === undefined ? 'create' : 'update', stored?.version ?? null);
  const known =
    made.known === null
      ? null
      : { ...made.known, numbers: taught, values: [...made.known.values, ...taught.map(([, value]) => value)] };
  const write: ResourceWrite = { ...made, writer: 'message', known };
  if (stored === undefined) return write;
  const { resourceType: _type, id: _id, meta: _meta, ...before } = parseStored(stored);
  return sortedJson(before) === sortedJson(content) ? { ...write, meta: stored.meta, body: stored.body } : write;
}
