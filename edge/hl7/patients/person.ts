/**
 * Compares the person in a message with a stored one. `agree` is strict, because it joins records. `fit` is lenient, because it
 * rejects messages. Twins, fathers and sons do not agree. A person who married or whose birth date was corrected does not
 * contradict.
 */
import type { PersonName } from '../../store/patient-identity.ts';
import { isProvisionalGiven, mayBeProvisional } from '../../store/provisional-name.ts';
import { fold } from '../../store/search/fold.ts';

export interface Person {
  readonly names: readonly PersonName[];
  /** `YYYY-MM-DD`, or a part of it. */
  readonly birthDate: string | undefined;
  /** FHIR `gender`. */
  readonly sex: string | undefined;
  /** The position in a multiple birth, from 1 (PID-25). */
  readonly birthOrder?: number | undefined;
}

/** The current personal data, and every earlier family name and birth date. */
export interface StoredPerson extends Person {
  readonly pastNames: readonly PersonName[];
  readonly pastBirthDates: readonly string[];
}

const COMPLETE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Entered if the birth date is unknown: the first day of a century, or of a database's calendar. */
const PLACEHOLDER_BIRTH_DATES: ReadonlySet<string> = new Set([
  '1900-01-01',
  '0001-01-01',
  '1753-01-01',
  '1800-01-01',
  '1899-12-30',
  '9999-12-31',
]);

/** Entered into PID-5 if the name is unknown (HL7 v2.5.1 §2.A.89, and the habits of registration desks). */
const PLACEHOLDER_NAMES: ReadonlySet<string> = new Set([
  'unknown',
  'unk',
  'u',
  'none',
  'noname',
  'no name',
  'unnamed',
  'not named',
  'nn',
  'fnu',
  'lnu',
  'unbekannt',
  'ohne name',
  'inconnu',
  'sans prenom',
  'sin nombre',
  'desconocido',
  'desconocida',
]);

const UNKNOWN_SEX: ReadonlySet<string> = new Set(['unknown']);

const MAX_PLAUSIBLE_CORRECTION_YEARS = 12;

/**
 * `short`: an initial, or the first of several given names, is enough. Twins may have equal initials, so `short` is only for
 * identifiers that hardly belong to another person.
 */
export type GivenNames = 'full' | 'short';

/** @param placeholders birth dates of the site's list */
export function agree(
  sent: Person,
  stored: Person,
  placeholders: ReadonlySet<string>,
  givenNames: GivenNames = 'full',
): boolean {
  const sentDate = usableDate(sent.birthDate, placeholders);
  if (sentDate === undefined || sentDate !== usableDate(stored.birthDate, placeholders)) return false;
  const [order, otherOrder] = [birthOrderOf(sent), birthOrderOf(stored)];
  if (differ(sexOf(sent), sexOf(stored)) || differ(order, otherOrder)) return false;
  // Twins have equal provisional names: only the birth order distinguishes them.
  const mayBeTwin = order === undefined || otherOrder === undefined;
  const isUsable = (name: PersonName): boolean => !mayBeTwin || !comparable(name).isProvisional;
  const names = stored.names.filter(isUsable);
  return sent.names.filter(isUsable).some((a) => names.some((b) => isSameName(a, b, givenNames)));
}

/**
 * Compares a message with every name and birth date of a stored person. The person contradicts if the birth dates are a
 * generation apart, or birth date and family name differ. So do three differences of family name, first given name, sex and birth
 * date; two are doubtful. Absent and placeholder values never differ.
 */
export function fit(
  sent: Person,
  stored: StoredPerson,
  placeholders: ReadonlySet<string>,
): 'fits' | 'doubtful' | 'contradicts' {
  const sentDate = usableDate(sent.birthDate, placeholders);
  const dates = [stored.birthDate, ...stored.pastBirthDates].flatMap((date) => usableDate(date, placeholders) ?? []);
  const isOtherDate = sentDate !== undefined && dates.length > 0 && !dates.includes(sentDate);
  if (isOtherDate && dates.every((date) => yearsBetween(date, sentDate) > MAX_PLAUSIBLE_CORRECTION_YEARS))
    return 'contradicts';
  const names = [...stored.names, ...stored.pastNames];
  const isOtherFamily = isNoneOf(sent.names.filter(hasFamily), names.filter(hasFamily), isSameFamily);
  if (isOtherDate && isOtherFamily) return 'contradicts';
  const isOtherGiven = isNoneOf(sent.names, names, mayHaveSameGiven);
  const differences = [isOtherDate, isOtherFamily, isOtherGiven, differ(bornAs(sent), bornAs(stored))].filter(Boolean);
  return differences.length > 2 ? 'contradicts' : differences.length === 2 ? 'doubtful' : 'fits';
}

/** Values that only one side has do not differ. */
const isNoneOf = (
  sent: readonly PersonName[],
  names: readonly PersonName[],
  isSame: (a: PersonName, b: PersonName) => boolean,
): boolean => sent.length > 0 && names.length > 0 && !sent.some((a) => names.some((b) => isSame(a, b)));

/** A short form or an initial is the same name. A text without parts and a provisional name match any name. */
function mayHaveSameGiven(a: PersonName, b: PersonName): boolean {
  const [one, two] = [comparable(a), comparable(b)];
  const [given, other] = [one.given, two.given];
  if (given === undefined || other === undefined || one.hasProvisionalGiven || two.hasProvisionalGiven) return true;
  const [left, right] = [letters(given), letters(other)];
  return left.startsWith(right) || right.startsWith(left) || terms(given).some((word) => terms(other).includes(word));
}

/** Another sex than male or female does not differ from either. */
const bornAs = ({ sex }: Person): string | undefined => (sex === 'male' || sex === 'female' ? sex : undefined);

/**
 * Checks for the name of another person: another family name, or another first given name. Absent values, placeholders and
 * provisional names never differ.
 */
export function isOtherName(name: PersonName, stored: StoredPerson): boolean {
  const names = [...stored.names, ...stored.pastNames].filter(hasFamily);
  const mayBeSame = (other: PersonName): boolean =>
    isSameFamily(name, other) &&
    (comparable(name).isProvisional || comparable(other).isProvisional || hasSameGiven(name, other, 'short') !== false);
  return hasFamily(name) && names.length > 0 && !names.some(mayBeSame);
}

function usableDate(date: string | undefined, placeholders: ReadonlySet<string>): string | undefined {
  if (date === undefined || !COMPLETE_DATE.test(date)) return undefined;
  return PLACEHOLDER_BIRTH_DATES.has(date) || placeholders.has(date) ? undefined : date;
}

function yearsBetween(a: string, b: string): number {
  const days = Math.abs(Date.parse(a) - Date.parse(b)) / 86_400_000;
  return days / 365.25;
}

const sexOf = ({ sex }: Person): string | undefined => (sex === undefined || UNKNOWN_SEX.has(sex) ? undefined : sex);

/** 0 is entered for single births. */
const birthOrderOf = ({ birthOrder }: Person): number | undefined => birthOrder || undefined;

const differ = <T>(a: T | undefined, b: T | undefined): boolean => a !== undefined && b !== undefined && a !== b;

const usable = (name: string | undefined): string | undefined => {
  const folded = name === undefined ? '' : fold(name);
  return folded === '' || PLACEHOLDER_NAMES.has(folded) ? undefined : folded;
};

/** The folded parts of a name, without placeholders. */
interface ComparableName extends Pick<PersonName, 'family' | 'given' | 'otherGiven' | 'text'> {
  readonly isProvisional: boolean;
  readonly hasProvisionalGiven: boolean;
}

/** A name is compared with many names, but folded once. */
const COMPARABLE = new WeakMap<PersonName, ComparableName>();

function comparable(name: PersonName): ComparableName {
  const kept = COMPARABLE.get(name);
  if (kept !== undefined) return kept;
  const given = usable(name.given);
  const made = {
    family: usable(name.family),
    given,
    otherGiven: usable(name.otherGiven),
    text: usable(name.text),
    isProvisional: mayBeProvisional(name),
    hasProvisionalGiven: given !== undefined && isProvisionalGiven(given),
  };
  COMPARABLE.set(name, made);
  return made;
}

function hasFamily(name: PersonName): boolean {
  const { family, text } = comparable(name);
  return family !== undefined || text !== undefined;
}

/** Letters and digits only: `O'Neill`, `O Neill` and `ONEILL` are one name, and so are `Meyer-Schmidt` and `Meyer Schmidt`. */
const letters = (folded: string): string => folded.replaceAll(/[^\p{L}\p{N}]/gu, '');

const terms = (folded: string): readonly string[] =>
  folded
    .split(/[^\p{L}\p{N}'’]+/u)
    .map(letters)
    .filter((word) => word !== '');

/** Checks whether a text contains a name as complete terms. */
function contains(text: string, name: string): boolean {
  const all = terms(text);
  const wanted = terms(name);
  return all.some((_, at) => wanted.every((word, offset) => all[at + offset] === word));
}

function isSameFamily(a: PersonName, b: PersonName): boolean {
  const { family, text } = comparable(a);
  const { family: other, text: otherText } = comparable(b);
  if (family !== undefined && other !== undefined) return letters(family) === letters(other);
  if (family !== undefined && otherText !== undefined) return contains(otherText, family);
  if (other !== undefined && text !== undefined) return contains(text, other);
  return text !== undefined && text === otherText;
}

function isSameName(a: PersonName, b: PersonName, givenNames: GivenNames): boolean {
  if (!isSameFamily(a, b) || haveOtherFurtherNames(a, b)) return false;
  return hasSameGiven(a, b, givenNames) === true;
}

/** Undefined if one of the names has no given name. */
function hasSameGiven(a: PersonName, b: PersonName, givenNames: GivenNames): boolean | undefined {
  const [given, other] = [comparable(a).given, comparable(b).given];
  if (given !== undefined && other !== undefined) return isSameGiven(given, other, givenNames);
  const [text, otherText] = [textOnly(a), textOnly(b)];
  if (given !== undefined && otherText !== undefined) return !isInitial(given) && contains(otherText, given);
  if (other !== undefined && text !== undefined) return !isInitial(other) && contains(text, other);
  return text !== undefined && text === otherText && terms(text).length > 1 ? true : undefined;
}

function isSameGiven(given: string, other: string, givenNames: GivenNames): boolean {
  const [left, right] = [letters(given), letters(other)];
  if (left === right) return givenNames === 'short' || !isInitial(left);
  if (givenNames === 'full') return false;
  if (isInitial(left) || isInitial(right)) return left.startsWith(right) || right.startsWith(left);
  return terms(given)[0] === right || terms(other)[0] === left;
}

/** Twins with one first name: MUHAMMAD ALI and MUHAMMAD HASAN. An initial or the first of several does not differ. */
function haveOtherFurtherNames(a: PersonName, b: PersonName): boolean {
  const [left, right] = [letters(comparable(a).otherGiven ?? ''), letters(comparable(b).otherGiven ?? '')];
  return !left.startsWith(right) && !right.startsWith(left);
}

/** One letter of a script in which that is not a name. */
const isInitial = (name: string): boolean =>
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u.test(letters(name));

const textOnly = (name: PersonName): string | undefined =>
  name.family === undefined ? comparable(name).text : undefined;
