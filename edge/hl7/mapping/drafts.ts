/**
 * The resources that one message creates or changes: stored ones, new ones, and the writes at the end. It does not depend on
 * segments.
 */
import { isJsonObject, sortedJson, type JsonObject } from '../../../shared/json.ts';
import { isResourceType, type ResourceType } from '../../../shared/resource-type.ts';
import type { IdentifierRow } from '../../store/patient-identity.ts';
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
  /** For `identity` the HL7 key, ending in `@` and the patient's id. For `result` the complete key as JSON. */
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
  /** The precedences of its values. */
  remembered: Remembered;
  /** A patient's identifiers that the lookup found, and those that this message added. */
  readonly numbers: IdentifierRow[];
  /** The identifiers that this message added. */
  readonly taught: IdentifierRow[];
  /** A patient's earlier names and birth dates (`KnownBy`). */
  readonly traits: readonly string[];
}

/** The identifiers and traits of a patient beside its record. */
export interface FoundPatient {
  readonly id: string;
  readonly numbers: readonly IdentifierRow[];
  readonly traits: readonly string[];
}

export interface Drafts {
  readonly patients: () => readonly Draft[];
  readonly byId: (type: ResourceType, id: string) => Draft | undefined;
  /** The resource of an HL7 key, stored or created by this message. */
  readonly byKey: (type: ResourceType, key: string) => Draft | undefined;
  readonly create: (type: ResourceType, id: string, key?: string) => Draft;
  /** Adds another HL7 key. */
  readonly addKey: (draft: Draft, key: string) => void;
  /** The patient's resources with HL7 keys, as far as they were looked up; the keys without the patient. */
  readonly keysOf: (patientId: string) => readonly { readonly key: string; readonly draft: Draft }[];
  /** A key that `hl7_merge` will give to a resource. */
  readonly expectKey: (draft: Draft, key: string) => void;
  readonly apply: (
    draft: Draft,
    contributions: readonly Contribution[],
    precedence: Precedence,
    isWithdrawal?: boolean,
  ) => Pick<Applied, 'isStale' | 'isTied'>;
  /** Combines another record of the same resource: its later values count. */
  readonly absorb: (draft: Draft, other: Recorded) => Pick<Applied, 'isTied'>;
  /** Marks a document that another one replaced. */
  readonly supersede: (draft: Draft, precedence: Precedence) => void;
  /** Changes the content without changing precedences. */
  readonly rewrite: (draft: Draft, content: JsonObject) => void;
  /** Marks a resource as one of the message, even if it does not change. */
  readonly touch: (draft: Draft) => void;
  /** Adds identifiers. */
  readonly teach: (draft: Draft, numbers: readonly IdentifierRow[]) => void;
  /** Removes an identifier that was only listed with the patient. */
  readonly forget: (draft: Draft, number: { readonly authority: string; readonly value: string }) => void;
  /** Edits the identifiers of a patient in place. */
  readonly identifiers: (draft: Draft, change: (items: readonly JsonObject[]) => readonly JsonObject[]) => void;
  readonly result: (source: string) => DraftResult;
}

export interface DraftResult {
  readonly resources: readonly JsonObject[];
  readonly writes: readonly ResourceWrite[];
  readonly identities: readonly { readonly type: ResourceType; readonly key: string; readonly id: string }[];
  readonly precedences: readonly { readonly type: ResourceType; readonly id: string; readonly fields: string }[];
}

/** @param names system URIs of assigning authorities, by name in capitals */
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
      const subject = { isPatient: draft.type === 'Patient', names, isWithdrawal };
      const said = applyStatement(draft.content, draft.remembered, contributions, precedence, subject);
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
    forget: (draft, { authority, value }) => {
      touched.add(draft);
      const at = draft.numbers.findIndex((row) => row[0] === authority && row[1] === value && !row[3]);
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

/** An unchanged resource keeps its stored text, and so its version and source. */
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
