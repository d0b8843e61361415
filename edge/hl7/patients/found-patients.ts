/** The patients that a message finds or creates, as the rules of matching read them. */
import { objectsOf, type JsonObject } from '../../../shared/json.ts';
import { knownBy, namesOf, readTraits, type IdentifierRow } from '../../store/patient-identity.ts';
import type { Authorities } from '../mapping/assigning-authority.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { isIdentifyingType, isPlaceholder } from './identifier-rules.ts';
import type { Person, StoredPerson } from './person.ts';
import type { StoredIdentity, StoredPatient, StoredIdentifier } from './identifier-holders.ts';
import type { ResolveRequest } from './resolve-request.ts';
import type { IdentifierRules } from './sent-identifiers.ts';
import { mergedWith } from './merge-register.ts';
import { survivorOf } from './survivor.ts';

/** @param rules the site's */
export function storedIdentity(
  drafts: Drafts,
  { named, taught, contested, rejected }: Authorities,
  rules: IdentifierRules,
): StoredIdentity & Pick<ResolveRequest, 'placeholderDates'> {
  return {
    stored: storedIdentifiers(drafts, rules),
    patients: storedPatients(drafts, rules),
    namedUris: new Set([...named.values(), ...taught.values(), ...[...contested.values()].flat()]),
    rejected,
    placeholderDates: rules.placeholderBirthDates,
  };
}

/** Reads only the patients that are asked for: each PID of a message asks, and may ask about few of its patients. */
function storedPatients(drafts: Drafts, rules: IdentifierRules): StoredIdentity['patients'] {
  const read = new Map<string, StoredPatient>();
  return {
    get(id) {
      const draft = drafts.byId('Patient', id);
      if (draft === undefined) return undefined;
      const known = read.get(id) ?? storedPatientOf(draft, drafts, rules);
      read.set(id, known);
      return known;
    },
  };
}

const storedPatientOf = (draft: Draft, drafts: Drafts, rules: IdentifierRules): StoredPatient => ({
  id: draft.id,
  survivor: survivorOf(draft, drafts).id,
  person: storedPersonOf(draft),
  // Few messages need them.
  get identifiers() {
    const { numbers } = knownBy(withoutOld(draft.content));
    return identifiersOf(draft.id, numbers, rules).filter(({ identifies }) => identifies);
  },
  mergedWith: mergedWith(draft),
});

/** A Patient with its current identifiers alone. */
const withoutOld = (content: JsonObject): JsonObject => ({
  ...content,
  identifier: objectsOf(content['identifier']).filter(({ use }) => use !== 'old'),
});

/** By content, which is never changed in place. A message with many patients asks for all of them after each PID. */
const persons = new WeakMap<JsonObject, { readonly traits: number; readonly person: StoredPerson }>();

function storedPersonOf({ content, traits }: Draft): StoredPerson {
  const known = persons.get(content);
  // Traits are only added.
  if (known?.traits === traits.size) return known.person;
  const person = { ...personOf(content), ...readTraits([...traits]) };
  persons.set(content, { traits: traits.size, person });
  return person;
}

/** The person of a Patient's content, without earlier names and birth dates. */
export function personOf(content: JsonObject): Person {
  return {
    names: namesOf(content),
    birthDate: textOf(content, 'birthDate'),
    sex: textOf(content, 'gender'),
    birthOrder: typeof content['multipleBirthInteger'] === 'number' ? content['multipleBirthInteger'] : undefined,
  };
}

const textOf = (content: JsonObject, member: string): string | undefined => {
  const value = content[member];
  return typeof value === 'string' ? value : undefined;
};

/** By numbers, which are never changed in place and are of one message. */
const identifiers = new WeakMap<readonly IdentifierRow[], readonly StoredIdentifier[]>();

function storedIdentifiers(drafts: Drafts, rules: IdentifierRules): readonly StoredIdentifier[] {
  return drafts.patients().flatMap(({ id, numbers }) => {
    const known = identifiers.get(numbers) ?? identifiersOf(id, numbers, rules);
    identifiers.set(numbers, known);
    return known;
  });
}

const identifiersOf = (patient: string, rows: readonly IdentifierRow[], rules: IdentifierRules): StoredIdentifier[] =>
  rows.map(([authority, value, sentType, led, isAssumed]) => {
    const type = sentType === '' ? undefined : sentType;
    const isReal = !isPlaceholder(value, { type, hasAuthority: !isAssumed }, rules.placeholders);
    const identifies = isReal && isIdentifyingType(type, rules.identifyingTypes);
    return { patient, authority, value, identifies, led, isAssumed };
  });
