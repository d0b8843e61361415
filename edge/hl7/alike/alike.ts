/**
 * Compares two patient records that a registration desk may have made of one person: the same name, birth date, sex and
 * address. Twins, parents and children do not agree (edge/hl7/patients/person.ts).
 */
import { isJsonObject, objectsOf, type JsonObject } from '../../../shared/json.ts';
import { mayBeProvisional } from '../../store/provisional-name.ts';
import { fold } from '../../store/search/fold.ts';
import { personOf } from '../patients/found-patients.ts';
import { agree, type Person } from '../patients/person.ts';

/** More addresses of a record are not compared. */
const MAX_ADDRESSES = 10;

/**
 * True if both records are active, not linked to each other, and alike.
 *
 * @param a,b members of a Patient
 * @param placeholders birth dates of the site's list
 */
export function areAlike(
  a: JsonObject & { readonly id: string },
  b: JsonObject & { readonly id: string },
  placeholders: ReadonlySet<string>,
): boolean {
  if (a['active'] === false || b['active'] === false || isLinked(a, b.id) || isLinked(b, a.id)) return false;
  if (!agree(namedPerson(a), namedPerson(b), placeholders)) return false;
  const others = addressesOf(b);
  return addressesOf(a).some((address) => others.some((other) => isSameAddress(address, other)));
}

/** Twins share provisional names. */
function namedPerson(patient: JsonObject): Person {
  const person = personOf(patient);
  return { ...person, names: person.names.filter((name) => !mayBeProvisional(name)) };
}

const isLinked = ({ link }: JsonObject, id: string): boolean =>
  objectsOf(link).some(({ other }) => isJsonObject(other) && other['reference'] === `Patient/${id}`);

interface Address {
  /** House number, apartment, box. */
  readonly numbers: ReadonlySet<string>;
  /** The beginnings of the other terms, without those for a street. */
  readonly names: ReadonlySet<string>;
  readonly postalCode: string;
  readonly city: string;
}

/** By their first letters, so that abbreviations are included. */
const STREET_TERMS: ReadonlySet<string> = new Set(
  [
    'street',
    'straße',
    'road',
    'avenue',
    'lane',
    'drive',
    'boulevard',
    'rue',
    'via',
    'calle',
    'apartment',
    'unit',
    'the',
  ].map((term) => beginning(fold(term))),
);

/** HAUPTSTR. and HAUPTSTRASSE begin alike. */
function beginning(term: string): string {
  return term.slice(0, 4);
}

function addressesOf(patient: JsonObject): Address[] {
  return objectsOf(patient['address']).slice(0, MAX_ADDRESSES).map(addressOf);
}

function addressOf({ text, line, postalCode, city }: JsonObject): Address {
  const lines = Array.isArray(line) ? line.filter((each) => typeof each === 'string') : [];
  const said = lines.length === 0 && typeof text === 'string' ? [text] : lines;
  const terms = said.flatMap((each) => fold(each).split(/[^\p{L}\p{N}]+/u)).filter((term) => term !== '');
  const letters = terms.filter((term) => !/\d/.test(term) && term.length > 1).map(beginning);
  const named = letters.filter((term) => !STREET_TERMS.has(term));
  return {
    numbers: new Set(terms.filter((term) => /\d/.test(term))),
    names: new Set(named.length === 0 ? letters : named),
    postalCode: typeof postalCode === 'string' ? codeOf(postalCode) : '',
    city: typeof city === 'string' ? fold(city) : '',
  };
}

/** Letters and digits; of a ZIP+4 code the first five digits. */
function codeOf(postalCode: string): string {
  const code = fold(postalCode).replaceAll(/[^\p{L}\p{N}]/gu, '');
  return /^\d{9}$/.test(code) ? code.slice(0, 5) : code;
}

/**
 * True for the same postal code, or city if one has no code, with a term of the street in common. The numbers of one address are
 * all in the other, since an apartment may be missing.
 */
function isSameAddress(a: Address, b: Address): boolean {
  const isSamePlace =
    a.postalCode !== '' && b.postalCode !== '' ? a.postalCode === b.postalCode : a.city !== '' && a.city === b.city;
  if (!isSamePlace || a.names.isDisjointFrom(b.names)) return false;
  const [fewer, more] = a.numbers.size <= b.numbers.size ? [a.numbers, b.numbers] : [b.numbers, a.numbers];
  return fewer.size === 0 ? more.size === 0 : fewer.isSubsetOf(more);
}
