/**
 * Whether two descriptions can be of one person: what a message says of its patient against what a chart says. `agree`
 * is strict, because it joins; `contradict` is lenient, because it refuses. Twins, fathers and sons do not agree; a person
 * who married or whose birth date was corrected does not contradict.
 */
import type { PersonName } from '../../store/patient-identity.ts';
import { isProvisionalGiven, mayBeProvisional } from '../../store/provisional-name.ts';
import { fold } from '../../store/search/fold.ts';

export interface Person {
  readonly names: readonly PersonName[];
  /** `YYYY-MM-DD`, or less of it. */
  readonly birthDate: string | undefined;
  /** FHIR `gender`. */
  readonly sex: string | undefined;
  /** The place among those born together, from 1 (PID-25). */
  readonly birthOrder?: number | undefined;
}

/** A chart: what it says now, and every family name and birth date that it has ever had. */
export interface StoredPerson extends Person {
  readonly pastNames: readonly PersonName[];
  readonly pastBirthDates: readonly string[];
}

const COMPLETE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** What is entered when nobody knows: the first day of a century, or of a database's calendar. */
const PLACEHOLDER_BIRTH_DATES: ReadonlySet<string> = new Set([
  '1900-01-01',
  '0001-01-01',
  '1753-01-01',
  '1800-01-01',
  '1899-12-30',
  '9999-12-31',
]);

/** What is put into PID-5 when nobody knows (HL7 v2.5.1 §2.A.89, and what registration desks write). */
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

/** A sex that says nothing. */
const UNKNOWN_SEX: ReadonlySet<string> = new Set(['unknown']);

const MAX_PLAUSIBLE_CORRECTION_YEARS = 12;

/**
 * How alike given names must be. `short`: an initial, or the first of several, is enough. Twins may have equal initials,
 * so that is for numbers that hardly are somebody else's.
 */
export type GivenNames = 'full' | 'short';

/** @param placeholders the site's own birth dates that mean nothing */
export function agree(
  sent: Person,
  stored: Person,
  placeholders: ReadonlySet<string>,
  givenNames: GivenNames = 'full',
): boolean {
  const sentDate = knownDate(sent.birthDate, placeholders);
  if (sentDate === undefined || sentDate !== knownDate(stored.birthDate, placeholders)) return false;
  const [order, otherOrder] = [birthOrderOf(sent), birthOrderOf(stored)];
  if (differ(sexOf(sent), sexOf(stored)) || differ(order, otherOrder)) return false;
  // Twins have equal provisional names: only their order tells them apart.
  const mayBeTwin = order === undefined || otherOrder === undefined;
  const isUsable = (name: PersonName): boolean => !mayBeTwin || !comparable(name).isProvisional;
  const names = stored.names.filter(isUsable);
  return sent.names.filter(isUsable).some((a) => names.some((b) => isSameName(a, b, givenNames)));
}

/**
 * How well a message fits the person of a chart: against every name and birth date that the chart has had. It cannot be
 * about that person (`contradicts`) where the birth dates are a generation apart, birth date and family name differ, or
 * three of family name, first given name, sex and birth date: husband and wife, brother and sister. Where two of them
 * differ people should look at it (`doubtful`). Absent and placeholder values differ from nothing.
 */
export function fit(
  sent: Person,
  stored: StoredPerson,
  placeholders: ReadonlySet<string>,
): 'fits' | 'doubtful' | 'contradicts' {
  const sentDate = knownDate(sent.birthDate, placeholders);
  const dates = [stored.birthDate, ...stored.pastBirthDates].flatMap((date) => knownDate(date, placeholders) ?? []);
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

/** Of what either does not say nothing is different. */
const isNoneOf = (
  sent: readonly PersonName[],
  names: readonly PersonName[],
  isSame: (a: PersonName, b: PersonName) => boolean,
): boolean => sent.length > 0 && names.length > 0 && !sent.some((a) => names.some((b) => isSame(a, b)));

/** A short form or an initial is the same name; what is only text, and a provisional name, may be any. */
function mayHaveSameGiven(a: PersonName, b: PersonName): boolean {
  const [one, two] = [comparable(a), comparable(b)];
  const [given, other] = [one.given, two.given];
  if (given === undefined || other === undefined || one.hasProvisionalGiven || two.hasProvisionalGiven) return true;
  const [left, right] = [letters(given), letters(other)];
  return left.startsWith(right) || right.startsWith(left) || words(given).some((word) => words(other).includes(word));
}

/** What is neither of the two says nothing of which of them it was. */
const bornAs = ({ sex }: Person): string | undefined => (sex === 'male' || sex === 'female' ? sex : undefined);

/**
 * Whether a name is that of somebody else than the chart's person: another family name, or another first given name. What
 * either does not say, or says as a placeholder or provisional name, differs in nothing.
 */
export function isOtherName(name: PersonName, stored: StoredPerson): boolean {
  const names = [...stored.names, ...stored.pastNames].filter(hasFamily);
  const mayBeSame = (other: PersonName): boolean =>
    isSameFamily(name, other) &&
    (comparable(name).isProvisional || comparable(other).isProvisional || hasSameGiven(name, other, 'short') !== false);
  return hasFamily(name) && names.length > 0 && !names.some(mayBeSame);
}

function knownDate(date: string | undefined, placeholders: ReadonlySet<string>): string | undefined {
  if (date === undefined || !COMPLETE_DATE.test(date)) return undefined;
  return PLACEHOLDER_BIRTH_DATES.has(date) || placeholders.has(date) ? undefined : date;
}

function yearsBetween(a: string, b: string): number {
  const days = Math.abs(Date.parse(a) - Date.parse(b)) / 86_400_000;
  return days / 365.25;
}

const sexOf = ({ sex }: Person): string | undefined => (sex === undefined || UNKNOWN_SEX.has(sex) ? undefined : sex);

/** 0 is entered for people who were born alone. */
const birthOrderOf = ({ birthOrder }: Person): number | undefined => birthOrder || undefined;

const differ = <T>(a: T | undefined, b: T | undefined): boolean => a !== undefined && b !== undefined && a !== b;

const known = (name: string | undefined): string | undefined => {
  const folded = name === undefined ? '' : fold(name);
  return folded === '' || PLACEHOLDER_NAMES.has(folded) ? undefined : folded;
};

/** The folded parts of a name. Placeholders are left out. */
interface ComparableName extends Pick<PersonName, 'family' | 'given' | 'otherGiven' | 'text'> {
  readonly isProvisional: boolean;
  readonly hasProvisionalGiven: boolean;
}

/** A name is compared with many names, but folded once. */
const COMPARABLE = new WeakMap<PersonName, ComparableName>();

function comparable(name: PersonName): ComparableName {
  const kept = COMPARABLE.get(name);
  if (kept !== undefined) return kept;
  const given = known(name.given);
  const made = {
    family: known(name.family),
    given,
    otherGiven: known(name.otherGiven),
    text: known(name.text),
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

/** Letters and digits only: `O'Neill`, `O Neill` and `ONEILL`, `Meyer-Schmidt` and `Meyer Schmidt` are one name. */
const letters = (folded: string): string => folded.replaceAll(/[^\p{L}\p{N}]/gu, '');

const words = (folded: string): readonly string[] =>
  folded
    .split(/[^\p{L}\p{N}'’]+/u)
    .map(letters)
    .filter((word) => word !== '');

/** Whether a text has a name in it as whole words. */
function contains(text: string, name: string): boolean {
  const all = words(text);
  const wanted = words(name);
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

/** Undefined where one of the names has no given name. */
function hasSameGiven(a: PersonName, b: PersonName, givenNames: GivenNames): boolean | undefined {
  const [given, other] = [comparable(a).given, comparable(b).given];
  if (given !== undefined && other !== undefined) return isSameGiven(given, other, givenNames);
  const [text, otherText] = [textOnly(a), textOnly(b)];
  if (given !== undefined && otherText !== undefined) return !isInitial(given) && contains(otherText, given);
  if (other !== undefined && text !== undefined) return !isInitial(other) && contains(text, other);
  return text !== undefined && text === otherText && words(text).length > 1 ? true : undefined;
}

function isSameGiven(given: string, other: string, givenNames: GivenNames): boolean {
  const [left, right] = [letters(given), letters(other)];
  if (left === right) return givenNames === 'short' || !isInitial(left);
  if (givenNames === 'full') return false;
  if (isInitial(left) || isInitial(right)) return left.startsWith(right) || right.startsWith(left);
  return words(given)[0] === right || words(other)[0] === left;
}

/** Twins of one first name: MUHAMMAD ALI and MUHAMMAD HASAN. An initial or the first of several may be the same. */
function haveOtherFurtherNames(a: PersonName, b: PersonName): boolean {
  const [left, right] = [letters(comparable(a).otherGiven ?? ''), letters(comparable(b).otherGiven ?? '')];
  return !left.startsWith(right) && !right.startsWith(left);
}

/** One letter, of a script where that is no whole name. */
const isInitial = (name: string): boolean =>
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u.test(letters(name));

const textOnly = (name: PersonName): string | undefined =>
  name.family === undefined ? comparable(name).text : undefined;
