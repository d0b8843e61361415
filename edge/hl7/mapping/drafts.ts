/**
 * The resources that one message creates or changes: stored ones, new ones, and the writes at the end. It does not depend on
 * segments.
 */
import { isJsonObject, objectsOf, type Json, type JsonObject } from '../../../shared/json.ts';
import { isResourceType, type ResourceType } from '../../../shared/resource-type.ts';
import type { IdentifierRow } from '../../store/patient-identity.ts';
import { elementDifferences } from '../../store/resource-differences.ts';
import { parseStored, toWrite, type ResourceWrite, type StoredResource } from '../../store/resource.ts';
import { applyStatement, supersede, type Applied } from '../precedence/apply.ts';
import { combined, joined } from '../precedence/combine.ts';
import type { Recorded } from '../precedence/stated-value.ts';
import { isOfElement } from '../precedence/element.ts';
import { editIdentifiers, isListed } from '../precedence/identifiers.ts';
import { messageIdOf, type Precedence } from '../precedence/precedence.ts';
import { nothingRemembered, rememberedOf, type Remembered } from '../precedence/registers.ts';
import { printRegisters } from '../../store/registers.ts';
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
  numbers: readonly IdentifierRow[];
  /** The identifiers that this message added. */
  readonly taught: IdentifierRow[];
  /** A patient's names and birth dates (`KnownBy`), stored ones and those of this message. */
  readonly traits: Set<string>;
  /** The traits of this message. */
  readonly said: string[];
  /** The fields that state its elements; `''` for no field. */
  readonly origins: { readonly element: string; readonly field: string }[];
}

/** The identifiers and traits of a patient beside its record. */
export interface FoundPatient {
  readonly id: string;
  readonly numbers: readonly IdentifierRow[];
  readonly traits: readonly string[];
}

export interface Drafts {
  readonly patients: () => readonly Draft[];
  readonly all: () => readonly Draft[];
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
  /** @param segment the origin of contributions without a field */
  readonly apply: (
    draft: Draft,
    contributions: readonly Contribution[],
    precedence: Precedence,
    isWithdrawal?: boolean,
    segment?: string,
  ) => Pick<Applied, 'isStale' | 'isTied'>;
  /** Combines another record of the same resource: its later values count. */
  readonly absorb: (draft: Draft, other: Recorded) => Pick<Applied, 'isTied'>;
  /** Adds the statements of another record of the same patient. */
  readonly join: (draft: Draft, other: Recorded) => void;
  /** Marks a document that another one replaced. */
  readonly supersede: (draft: Draft, precedence: Precedence) => void;
  /** Changes the content without changing precedences. */
  readonly rewrite: (draft: Draft, content: JsonObject) => void;
  /** Keeps the precedence of a statement, under the name of an element or another one. */
  readonly remember: (draft: Draft, name: string, precedence: Precedence, held?: Json) => void;
  /** Marks a resource as one of the message, even if it does not change. */
  readonly touch: (draft: Draft) => void;
  /** Adds identifiers. */
  readonly teach: (draft: Draft, numbers: readonly IdentifierRow[]) => void;
  /** Adds names and birth dates. */
  readonly rememberPerson: (draft: Draft, traits: readonly string[]) => void;
  /** Removes an identifier that leads to another patient now. @param number.led true if it also led to this one */
  readonly forget: (
    draft: Draft,
    number: { readonly authority: string; readonly value: string; readonly led: boolean },
  ) => void;
  /**
   * Edits the identifiers of a patient in place. `isListed`: a message listed the identifier for this patient.
   *
   * @param field the origin; `''`: the event
   */
  readonly identifiers: (
    draft: Draft,
    field: string,
    change: (items: readonly JsonObject[], isListed: (item: JsonObject) => boolean) => readonly JsonObject[],
  ) => void;
  /** @param event the origin of changes that no field makes, such as `MSH-9` */
  readonly result: (source: string, event: string, messageId: string) => DraftResult;
}

/** The write of a resource, and its record of effects. */
interface DraftWrite extends ResourceWrite {
  /** The members that change, with the fields that state them: `name PID-5 PID-9,birthDate PID-7`. */
  readonly elements: string;
}

export interface DraftResult {
  readonly resources: readonly JsonObject[];
  readonly writes: readonly DraftWrite[];
  readonly identities: readonly { readonly type: ResourceType; readonly key: string; readonly id: string }[];
  readonly precedences: readonly { readonly type: ResourceType; readonly id: string; readonly fields: string }[];
}

const newDraft = (type: ResourceType, id: string): Draft => ({
  type,
  id,
  stored: undefined,
  content: {},
  remembered: nothingRemembered,
  numbers: [],
  taught: [],
  traits: new Set<string>(),
  said: [],
  origins: [],
});

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
    const { id } = resource;
    const { numbers = [], traits } = ofPatient.get(id) ?? {};
    const draft: Draft = drafts.get(at(type, id)) ?? {
      ...newDraft(type, id),
      stored: resource,
      content,
      remembered: rememberedOf(id, contributions),
      numbers: [...numbers],
      traits: new Set(traits),
    };
    drafts.set(at(type, id), draft);
    if (role === 'identity') keys.set(at(resource.type, key), draft);
  }

  return {
    patients: () => [...drafts.values()].filter(({ type }) => type === 'Patient'),
    all: () => [...drafts.values()],
    byId: (type, id) => drafts.get(at(type, id)),
    byKey: (type, key) => keys.get(at(type, key)),
    create: (type, id, key) => {
      const draft = newDraft(type, id);
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
    join: (draft, other) => change(draft, joined(draft, other, names)),
    apply: (draft, contributions, precedence, isWithdrawal = false, segment = '') => {
      for (const { field, element } of contributions) draft.origins.push({ element, field: field || segment });
      const subject = { isPatient: draft.type === 'Patient', names, isWithdrawal };
      const said = applyStatement(draft.content, draft.remembered, contributions, precedence, subject);
      change(draft, said);
      return said;
    },
    supersede: (draft, precedence) => change(draft, supersede(draft.content, draft.remembered, precedence)),
    rewrite: (draft, content) => change(draft, { ...draft, content }),
    remember: (draft, name, precedence, held = null) => {
      const registers = new Map(draft.remembered.registers).set(name, { precedence, held });
      change(draft, { ...draft, remembered: { ...draft.remembered, registers } });
    },
    touch: (draft) => void touched.add(draft),
    teach: (draft, numbers) => {
      touched.add(draft);
      draft.numbers = [...draft.numbers, ...numbers];
      draft.taught.push(...numbers);
    },
    rememberPerson: (draft, traits) => {
      draft.said.push(...traits.filter((trait) => !draft.traits.has(trait)));
      for (const trait of traits) draft.traits.add(trait);
    },
    forget: (draft, { authority, value, led }) => {
      touched.add(draft);
      const isGone = (row: IdentifierRow): boolean => row[0] === authority && row[1] === value && (led || !row[3]);
      draft.numbers = draft.numbers.filter((row) => !isGone(row));
    },
    identifiers: (draft, field, edit) => {
      draft.origins.push({ element: 'identifier', field });
      const { content, remembered } = draft;
      const items = objectsOf(content['identifier']);
      const identifier = [...edit(items, (item) => isListed(item, remembered.registers, names))];
      const registers = editIdentifiers(items, identifier, remembered.registers, names);
      change(draft, { content: { ...content, identifier }, remembered: { ...remembered, registers } });
    },
    result: (source, event, messageId) => ({
      resources: [...touched].map((draft) => ({ ...asResource(draft, source) })),
      writes: [...touched].map((draft) => writeOf(draft, source, event, messageId)),
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
function writeOf(draft: Draft, source: string, event: string, messageId: string): DraftWrite {
  const { stored, id, content, taught, said } = draft;
  const resource = asResource(draft, source);
  const made = toWrite(
    resource,
    id,
    stored === undefined ? 'create' : 'update',
    stored === undefined ? null : [stored.version],
  );
  const known =
    made.known === null
      ? null
      : {
          numbers: taught,
          values: [...made.known.values, ...taught.map(([, value]) => value)],
          traits: said,
        };
  const changed =
    stored === undefined
      ? Object.keys(content)
      : elementDifferences(parseStored(stored), content).map(({ element }) => element);
  const elements = changed.map((member) => [member, ...originsOf(member, draft, event, messageId)].join(' ')).join(',');
  const write: DraftWrite = { ...made, writer: 'message', known, elements };
  return stored !== undefined && changed.length === 0 ? { ...write, meta: stored.meta, body: stored.body } : write;
}

function originsOf(member: string, draft: Draft, event: string, messageId: string): string[] {
  const { origins, remembered, content } = draft;
  // A message can make an earlier one's statement count, such as that of another record of the same result. Lists join
  // statements.
  const winner = remembered.registers.entries().find(([name]) => isOfElement(name, member))?.[1];
  const isOfOther = winner !== undefined && !['', messageId].includes(messageIdOf(winner.precedence));
  if (isOfOther && !Array.isArray(content[member])) return [event];
  const isOf = (element: string): boolean => isOfElement(element, member) || element.startsWith(`${member} `);
  const fields = new Set(origins.flatMap(({ element, field }) => (isOf(element) ? (field || event).split(' ') : [])));
  return fields.size === 0 ? [event] : [...fields];
}
