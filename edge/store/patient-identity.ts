/**
 * The identifiers of a patient, and the earlier traits of the person in its record. They are rows beside a Patient's
 * content (`patient_identity`, `patient_trait` in migrations/0005_identity.sql), which every write of a Patient keeps.
 * An identifier is a pair of domain and value (IHE ITI TF-2 §3.8); its type is not a part of it.
 */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import { affordable, namesByUse } from './human-names.ts';
import { fold } from './search/fold.ts';

/**
 * `[domain, value, type, led, assumed]`: code of table 0203 or `''`; whether it led a PID-3; whether its domain is
 * assumed.
 */
export type IdentifierRow = readonly [domain: string, value: string, type: string, led: boolean, assumed: boolean];

/** The key of a row of role `number` that `hl7_matches` found. */
export function identifierRowOf(key: string): IdentifierRow {
  const parsed: unknown = JSON.parse(key);
  const [domain, value, type, led, assumed] = Array.isArray(parsed) ? parsed : [];
  return [String(domain), String(value), String(type), led === true, assumed === true];
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

/** The domain of a namespace without a URI. `''`: no authority. */
export const bareNameDomain = (namespace: string): string => `${NAME}${nameKey(namespace)}`;

/** The name of such a domain, in capitals; undefined for a URI and for `''`. */
export const nameOfDomain = (domain: string): string | undefined =>
  isBareName(domain) && domain !== NAME ? domain.slice(NAME.length) : undefined;

/** True if a domain is a bare namespace without a URI. */
export const isBareName = (domain: string): boolean => domain.startsWith(NAME);

/** The domain of an identifier that is stored as FHIR: its system, else the name of its assigner, else `''`. */
export function domainOfStored(system: string | undefined, assigner: string | undefined): string {
  return system ?? bareNameDomain(assigner ?? '');
}

/** The identifiers and traits in a Patient's content, in the sense of a FHIR client. */
export function knownBy(patient: JsonObject): KnownBy {
  const identifiers = objectsOf(patient['identifier']);
  return {
    numbers: identifiers.map(numberOf).filter((row) => row !== undefined),
    values: valuesOf(identifiers),
    traits: traitsOf(patient),
  };
}

export const valuesOf = (identifiers: readonly JsonObject[]): string[] =>
  identifiers.flatMap((item) => textOf(item['value'])?.trim() ?? []);

function numberOf(item: JsonObject): IdentifierRow | undefined {
  const value = textOf(item['value'])?.trim();
  if (value === undefined || value === '') return undefined;
  const system = textOf(item['system']);
  return [domainOfIdentifier(item), value, typeOf(item), true, system === undefined];
}

/** @param item an Identifier */
export function domainOfIdentifier(item: JsonObject): string {
  const assigner = item['assigner'];
  return domainOfStored(textOf(item['system']), isJsonObject(assigner) ? textOf(assigner['display']) : undefined);
}

/** Code of table 0203, for any system of the client; `''` without a code. */
function typeOf(item: JsonObject): string {
  const { type } = item;
  const code = isJsonObject(type) ? objectsOf(type['coding']).map((coding) => textOf(coding['code']))[0] : undefined;
  return (code ?? '').slice(0, MAX_TRAIT_PART);
}

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

/** `["family","given","text"]`, folded, or a birth date. */
function traitsOf(patient: JsonObject): string[] {
  const part = (text: string | undefined): string => fold(text ?? '').slice(0, MAX_TRAIT_PART);
  const each = namesOf(patient)
    .values()
    .map(({ family, given, text }) =>
      // The display text adds nothing to the parts of the name.
      JSON.stringify([part(family), part(given), family === undefined ? part(text) : '']),
    );
  const names = affordable(each, (trait) => trait.length, MAX_TRAITS);
  const birthDate = textOf(patient['birthDate']);
  return [...new Set([...names, ...(birthDate === undefined ? [] : [birthDate])])];
}

export interface Traits {
  readonly names: readonly PersonName[];
  readonly birthDates: readonly string[];
}

/** Back from the texts of `KnownBy.traits`. */
export function readTraits(traits: readonly string[]): Traits {
  const names = traits
    .filter((trait) => trait.startsWith('['))
    .map((trait): PersonName => {
      const parts: unknown = JSON.parse(trait);
      const [family, given, text] = Array.isArray(parts) ? parts.map(String) : [];
      return { family: family || undefined, given: given || undefined, text: text || undefined };
    });
  return { names, birthDates: traits.filter((trait) => !trait.startsWith('[')) };
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const textsOf = (list: Json | undefined): string[] =>
  Array.isArray(list) ? list.flatMap((item) => textOf(item) ?? []) : [];

/** The objects of a list of a stored resource; other entries are skipped. */
const objectsOf = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
