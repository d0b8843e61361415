/**
 * The identifiers of a patient, and the earlier traits of the person in its record. They are rows beside a Patient's
 * content (`patient_identity`, `patient_trait` in migrations/0005_identity.sql), which every write of a Patient keeps.
 * An identifier is a pair of assigning authority and value (IHE ITI TF-2 §3.8); its type is not a part of it.
 */
import { isJsonObject, objectsOf, type Json, type JsonObject } from '../../shared/json.ts';
import { affordable, namesByUse } from './human-names.ts';

/**
 * `[authority, value, type, led, assumed]`: the type is a code of table 0203 or `''`. `led`: it was the leading identifier of a
 * PID-3, or a FHIR client wrote it; other identifiers were only listed. `assumed`: the sender named no authority
 * (edge/docs/behaviour.md, HL7 v2, Identifiers).
 */
export type IdentifierRow = readonly [authority: string, value: string, type: string, led: boolean, assumed: boolean];

/** The key of a row of role `number` that `hl7_matches` found. */
export function identifierRowOf(key: string): IdentifierRow {
  const parsed: unknown = JSON.parse(key);
  const [authority, value, type, led, assumed] = Array.isArray(parsed) ? parsed : [];
  return [String(authority), String(value), String(type), led === true, assumed === true];
}

/** The input of `patient_rows_write`. */
export interface KnownBy {
  readonly numbers: readonly IdentifierRow[];
  /** Every identifier value of the content. */
  readonly values: readonly string[];
  readonly traits: readonly string[];
}

/** How names of authorities and of coding systems compare: tables 0300 and 0396 have local names, and senders do not agree on case. */
export const nameKey = (namespace: string): string => namespace.trim().toUpperCase();

const NAME = 'name:';

/** The authority of a namespace without a URI. `''`: no authority. */
export const bareAuthority = (namespace: string): string => `${NAME}${nameKey(namespace)}`;

/** The name of such an authority, in capitals; undefined for a URI and for `''`. */
export const nameOfAuthority = (authority: string): string | undefined =>
  isBareName(authority) && authority !== NAME ? authority.slice(NAME.length) : undefined;

/** True if an authority is a bare namespace without a URI. */
export const isBareName = (authority: string): boolean => authority.startsWith(NAME);

/** The authority of an identifier that is stored as FHIR: its system, else the name of its assigner, else `''`. */
export function storedAuthority(system: string | undefined, assigner: string | undefined): string {
  return system ?? bareAuthority(assigner ?? '');
}

/** The identifiers and traits in a Patient's content, in the sense of a FHIR client. */
export function knownBy(patient: JsonObject): KnownBy {
  const identifiers = objectsOf(patient['identifier']);
  return {
    numbers: identifiers.map(numberOf).filter((row) => row !== undefined),
    values: valuesOf(identifiers),
    traits: [DESCRIBED, ...traitsOf(namesOf(patient), textOf(patient['birthDate']))],
  };
}

const valuesOf = (identifiers: readonly JsonObject[]): string[] =>
  identifiers.flatMap((item) => textOf(item['value'])?.trim() ?? []);

function numberOf(item: JsonObject): IdentifierRow | undefined {
  const value = textOf(item['value'])?.trim();
  if (value === undefined || value === '') return undefined;
  const system = textOf(item['system']);
  return [authorityOfIdentifier(item), value, typeOf(item), true, system === undefined];
}

/** @param item an Identifier */
export function authorityOfIdentifier(item: JsonObject): string {
  const assigner = item['assigner'];
  return storedAuthority(textOf(item['system']), isJsonObject(assigner) ? textOf(assigner['display']) : undefined);
}

/** Code of table 0203, for any system of the client; `''` without a code. */
function typeOf(item: JsonObject): string {
  const { type } = item;
  const code = isJsonObject(type) ? objectsOf(type['coding']).map((coding) => textOf(coding['code']))[0] : undefined;
  return (code ?? '').slice(0, MAX_TRAIT_PART);
}

/** True if two Identifiers have the same assigning authority and value. */
export const isSameIdentifier = (a: JsonObject, b: JsonObject): boolean =>
  a['value'] === b['value'] && authorityOfIdentifier(a) === authorityOfIdentifier(b);

/** The parts of a name that distinguish people. */
export interface PersonName {
  readonly family: string | undefined;
  /** The first given name. */
  readonly given: string | undefined;
  /** Those behind it, by blanks. */
  readonly otherGiven?: string | undefined;
  readonly prefix?: string | undefined;
  /** A name that is only text. */
  readonly text: string | undefined;
}

/**
 * Names of one person that are compared. A person with a new registration in each year of a long life has about as
 * many.
 */
export const MAX_NAMES = 100;

export function namesOf(patient: JsonObject): PersonName[] {
  const names = namesByUse(patient).slice(0, MAX_NAMES);
  return names.map((name) => {
    const [given, ...others] = textsOf(name['given']);
    return {
      family: textOf(name['family']),
      given,
      otherGiven: others.join(' ') || undefined,
      prefix: textsOf(name['prefix']).join(' ') || undefined,
      text: textOf(name['text']),
    };
  });
}

/** An entry of an index is bounded, and no name that distinguishes people is longer. */
const MAX_TRAIT_PART = 120;

/** Characters of all names that one write adds. */
const MAX_TRAITS = 8192;

/** The trait of a patient that an ADT message or a FHIR client described: the record is not only of results and documents. */
export const DESCRIBED = '';

/** The trait of a newborn whose message had this identifier of another newborn's record beside the leading one. */
export const besideTrait = (value: string): string => `${BESIDE}${value.slice(0, MAX_TRAIT_PART)}`;

const BESIDE = 'beside ';

/** A name and a birth date that were said together. */
export interface Said {
  readonly name: PersonName;
  readonly birthDate: string | undefined;
}

/**
 * Each name with the birth date, as `["family","given","text","birth date"]` in lower case. Names that were said with another
 * birth date are of another statement.
 */
export function traitsOf(names: readonly PersonName[], birthDate: string | undefined): string[] {
  const part = (text: string | undefined): string => (text ?? '').slice(0, MAX_TRAIT_PART).toLowerCase();
  const said = names.length === 0 && birthDate !== undefined ? [NO_NAME] : names;
  const each = said.values().map(({ family, given, text }) =>
    // The display text adds nothing to the parts of the name.
    JSON.stringify([part(family), part(given), family === undefined ? part(text) : '', part(birthDate)]),
  );
  return [...new Set(affordable(each, (trait) => trait.length, MAX_TRAITS))];
}

const NO_NAME: PersonName = { family: undefined, given: undefined, text: undefined };

export interface Traits {
  readonly said: readonly Said[];
  readonly isDescribed: boolean;
  /** Values of identifiers of other newborns that messages had beside the leading one. */
  readonly beside: readonly string[];
}

/** Back from the texts of `KnownBy.traits`. */
export function readTraits(traits: readonly string[]): Traits {
  const said = traits
    .filter((trait) => trait !== DESCRIBED && !trait.startsWith(BESIDE))
    .map((trait): Said => {
      const parts: unknown = JSON.parse(trait);
      const [family, given, text, birthDate] = Array.isArray(parts) ? parts.map(String) : [];
      const name = { family: family || undefined, given: given || undefined, text: text || undefined };
      return { name, birthDate: birthDate || undefined };
    });
  const beside = traits.filter((trait) => trait.startsWith(BESIDE)).map((trait) => trait.slice(BESIDE.length));
  return { said, isDescribed: traits.includes(DESCRIBED), beside };
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const textsOf = (list: Json | undefined): string[] =>
  Array.isArray(list) ? list.flatMap((item) => textOf(item) ?? []) : [];
