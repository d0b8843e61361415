/**
 * Compares the person in a message with a stored one. `agree` is strict, because it joins records. `fit` is lenient, because it
 * rejects messages. Twins, fathers and sons do not agree. A person who married or whose birth date was corrected does not
 * contradict.
 */
import type { PersonName, Said } from '../../store/patient-identity.ts';
import { isProvisionalFamily, isProvisionalGiven, mayBeProvisional } from '../../store/provisional-name.ts';
import { fold, MAX_FOLDED } from '../../store/search/fold.ts';

export interface Person {
  readonly names: readonly PersonName[];
  /** `YYYY-MM-DD`, or a part of it. */
  readonly birthDate: string | undefined;
  /** FHIR `gender`. */
  readonly sex: string | undefined;
  /** The position in a multiple birth, from 1 (PID-25). */
  readonly birthOrder?: number | undefined;
}

/** The current personal data, and every earlier name with its birth date. */
export interface StoredPerson extends Person {
  readonly said: readonly Said[];
  /** By an ADT message or a FHIR client; else only results and documents mention the patient. */
  readonly isDescribed: boolean;
  /** A newborn's: values of other newborns' identifiers that messages had beside the leading one. */
  readonly beside?: readonly string[];
}

const COMPLETE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Entered if the birth date is unknown: the first day of a century, or of a database's calendar. */
export const PLACEHOLDER_BIRTH_DATES: ReadonlySet<string> = new Set([
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

/** Current names that a statement without a name may mean. */
const MOST_NAMES = 5;

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
 * Checks whether a result or document may be about a stored person. It does not contradict the person. The family names are
 * equal, and so is the birth date or a given name, of which an initial is enough.
 */
export function mayBeAbout(sent: Person, stored: StoredPerson, placeholders: ReadonlySet<string>): boolean {
  if (fit(sent, stored, placeholders) === 'contradicts') return false;
  const sentDate = usableDate(sent.birthDate, placeholders);
  const isSameDate = sentDate !== undefined && sentDate === usableDate(stored.birthDate, placeholders);
  return sent.names.some((a) =>
    stored.names.some((b) => {
      const isNewborns = comparable(a).isProvisional || comparable(b).isProvisional;
      return isSameFamily(a, b) && (isSameDate || (!isNewborns && hasSameGiven(a, b, 'short') === true));
    }),
  );
}

/** Checks whether a message repeats what is known: the full name, and neither birth date nor sex differs. */
export function isRepetition(sent: Person, stored: StoredPerson, placeholders: ReadonlySet<string>): boolean {
  const [date, other] = [sent, stored].map(({ birthDate }) => usableDate(birthDate, placeholders));
  if (differ(date, other) || differ(sexOf(sent), sexOf(stored))) return false;
  return sent.names.some((a) => stored.names.some((b) => !comparable(a).isProvisional && isSameName(a, b, 'full')));
}

/** Checks for a name in common, with a given name that is not provisional. */
export const hasNameOf = (a: Person, b: Person): boolean =>
  a.names.some((one) =>
    b.names.some((other) => !isProvisionalName(one) && !isProvisionalName(other) && isSameName(one, other, 'short')),
  );
const isProvisionalName = (name: PersonName): boolean => comparable(name).isProvisional;

/** Checks for a person born within a year before a day, who may be named or numbered like the mother. */
export function isNewborn({ birthDate, names }: Person, today: string): boolean {
  if (birthDate !== undefined && COMPLETE_DATE.test(birthDate)) return yearsBetween(birthDate, today) <= 1;
  return birthDate === undefined && names.some((name) => comparable(name).isNewborns);
}

/**
 * Checks for a newborn with the number of an older person, such as the mother. They are one person with a mistyped birth date
 * if they have a name in common, or if only the century differs. So they are if the older person has a provisional name.
 */
export const isNewbornWithNumberOf = (person: Person, stored: Person, today: string): boolean =>
  isNewborn(person, today) &&
  !isNewborn(stored, today) &&
  !hasNameOf(person, stored) &&
  person.birthDate?.slice(2) !== (stored.birthDate?.slice(2) ?? '') &&
  !stored.names.some(isProvisionalName);

/** Checks for a newborn without a name, and a person older than a year who has one and had no provisional name. */
export function isUnnamedBeside(
  sent: Person,
  stored: StoredPerson,
  today: string,
  placeholders: ReadonlySet<string>,
): boolean {
  const [sentDate, storedDate] = [sent, stored].map(({ birthDate }) => usableDate(birthDate, placeholders));
  const names = [...stored.names, ...stored.said.map(({ name }) => name)];
  const isOld = (date: string | undefined): boolean => date !== undefined && yearsBetween(date, today) > 1;
  if (isOld(storedDate) === isOld(sentDate)) return false;
  if (storedDate !== undefined && sentDate !== undefined && mayBeMistyped(sentDate, storedDate)) return false;
  const [young, old] = isOld(storedDate) ? [sent.names, names] : [names, sent.names];
  // An infant who is registered without a name may be older than a year.
  if (isOld(sentDate) && storedDate !== undefined) return false;
  return young.length > 0 && young.every((name) => isNewbornsOf(name, old)) && !old.some(isProvisionalName);
}

/** An adult without identification may be `DOE^MALE`: such a name is a newborn's only with the family name of the other person. */
const isNewbornsOf = (name: PersonName, others: readonly PersonName[]): boolean =>
  comparable(name).isNewborns &&
  (!/^(?:fe)?male(?!\p{L})/iu.test(name.given ?? '') || others.some((other) => isSameFamily(name, other)));

/** Checks for a known birth date more than a year before a day. */
export const isOlder = (person: Person | undefined, today: string): boolean =>
  person?.birthDate !== undefined && COMPLETE_DATE.test(person.birthDate) && !isNewborn(person, today);

/**
 * Compares a message with every statement about a stored person: name and birth date as they were said together. The person
 * contradicts if it contradicts each of them; see `compare`.
 */
export function fit(sent: Person, stored: StoredPerson, placeholders: ReadonlySet<string>): Fit {
  const current = { names: stored.names, date: usableDate(stored.birthDate, placeholders) };
  const past = stored.said.map(({ name, birthDate }): Statement => {
    const isNamed = hasFamily(name) || comparable(name).given !== undefined;
    // An absent value would fit every person, so the current one takes its place.
    return {
      names: isNamed ? [name] : current.names.slice(0, MOST_NAMES),
      date: usableDate(birthDate, placeholders) ?? current.date,
    };
  });
  const sentDate = usableDate(sent.birthDate, placeholders);
  const isOtherSex = differ(bornAs(sent), bornAs(stored));
  let best: Fit = 'contradicts';
  for (const statement of [current, ...past]) {
    const found = compare({ names: sent.names, date: sentDate }, statement, isOtherSex);
    if (found === 'fits') return found;
    if (found === 'doubtful') best = found;
  }
  return best;
}

export type Fit = 'fits' | 'doubtful' | 'contradicts';

interface Statement {
  readonly names: readonly PersonName[];
  readonly date: string | undefined;
}

/**
 * Two statements contradict if the birth dates are a generation apart, or if birth date and family name differ. They contradict
 * if birth date and given name differ, unless the birth date is a typing error. So do three differences of family name, first
 * given name, sex and birth date. Two are doubtful, and so is another given name. Absent and placeholder values never differ.
 */
function compare(sent: Statement, stored: Statement, isOtherSex: boolean): Fit {
  const isOtherDate = differ(sent.date, stored.date);
  const isOtherFamily = isNoneOf(sent.names.filter(hasOwnFamily), stored.names.filter(hasOwnFamily), isSameFamily);
  const isOtherGiven = isNoneOf(sent.names, stored.names, mayHaveSameGiven);
  if (isOtherDate && sent.date !== undefined && stored.date !== undefined) {
    if (yearsBetween(sent.date, stored.date) > MAX_PLAUSIBLE_CORRECTION_YEARS || isOtherFamily) return 'contradicts';
    if (isOtherGiven && !mayBeMistyped(sent.date, stored.date)) return 'contradicts';
  }
  const differences = [isOtherDate, isOtherFamily, isOtherGiven, isOtherSex].filter(Boolean).length;
  if (differences > 2) return 'contradicts';
  return differences === 2 || isOtherGiven ? 'doubtful' : 'fits';
}

/** Another digit, two digits transposed, or day and month swapped. */
function mayBeMistyped(a: string, b: string): boolean {
  const [year, month, day] = a.split('-');
  if (`${year}-${day}-${month}` === b) return true;
  const [left, right] = [a, b].map((date) => date.replaceAll('-', ''));
  if (left === undefined || right === undefined) return false;
  const others = Array.from({ length: left.length }, (_, at) => at).filter((at) => left[at] !== right[at]);
  const [first = 0, second] = others;
  if (others.length === 1) return true;
  return others.length === 2 && second === first + 1 && left[first] === right[second] && left[second] === right[first];
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
  return areSome(given, other, mayBeShort);
}

function mayBeShort(given: string, other: string): boolean {
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
  const names = [...stored.names, ...stored.said.map((said) => said.name)].filter(hasFamily);
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

/** A folded name, and the same with `ä` as `ae`, if that differs: senders without such letters write either. */
type Spellings = readonly [string, ...string[]];

const DIGRAPHS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

function usable(name: string | undefined): Spellings | undefined {
  const folded = name === undefined ? '' : fold(name);
  if (name === undefined || folded === '' || PLACEHOLDER_NAMES.has(folded)) return undefined;
  // `fold` reads no more of a name. A name in combining characters is composed first.
  const composed = name.slice(0, MAX_FOLDED).normalize('NFC').toLowerCase();
  const long = fold(composed.replaceAll(/[äöüøå]/g, (letter) => DIGRAPHS[letter] ?? letter));
  return long === folded ? [folded] : [folded, long];
}

const areSome = (a: Spellings, b: Spellings, isSame: (a: string, b: string) => boolean): boolean =>
  a.some((one) => b.some((other) => isSame(one, other)));

/** The folded parts of a name, without placeholders. */
interface ComparableName extends Readonly<Record<'family' | 'given' | 'otherGiven' | 'text', Spellings | undefined>> {
  readonly isProvisional: boolean;
  /** Provisional, and not only `UNKNOWN`. */
  readonly isNewborns: boolean;
  readonly hasProvisionalGiven: boolean;
  readonly hasProvisionalFamily: boolean;
}

/** A name is compared with many names, but folded once. */
const COMPARABLE = new WeakMap<PersonName, ComparableName>();

function comparable(name: PersonName): ComparableName {
  const kept = COMPARABLE.get(name);
  if (kept !== undefined) return kept;
  const given = usable(name.given);
  const family = usable(name.family);
  const made = {
    family,
    given,
    otherGiven: usable(name.otherGiven),
    text: usable(name.text),
    isProvisional: mayBeProvisional(name),
    isNewborns: mayBeProvisional({
      prefix: name.prefix,
      family: family && name.family,
      given: given && name.given,
      otherGiven: name.otherGiven,
      text: undefined,
    }),
    hasProvisionalGiven: given !== undefined && isProvisionalGiven(given[0]),
    hasProvisionalFamily: family !== undefined && isProvisionalFamily(family[0]),
  };
  COMPARABLE.set(name, made);
  return made;
}

/** A text that only repeats the given names and the prefix has no family name. */
function hasFamily(name: PersonName): boolean {
  const { family, text } = comparable(name);
  if (family !== undefined || text === undefined) return family !== undefined;
  const parts = terms(fold([name.prefix, name.given, name.otherGiven].join(' ')));
  return terms(text[0]).some((word) => !parts.includes(word));
}

/** Checks for a family name that is not provisional as a whole: `BABY GIRL` without a given name. */
const hasOwnFamily = (name: PersonName): boolean => hasFamily(name) && !comparable(name).hasProvisionalFamily;

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
  if (family !== undefined && other !== undefined)
    return areSome(family, other, (left, right) => letters(left) === letters(right));
  if (family !== undefined && otherText !== undefined) return areSome(otherText, family, contains);
  if (other !== undefined && text !== undefined) return areSome(text, other, contains);
  return text !== undefined && text[0] === otherText?.[0];
}

function isSameName(a: PersonName, b: PersonName, givenNames: GivenNames): boolean {
  if (!isSameFamily(a, b) || haveOtherFurtherNames(a, b)) return false;
  return hasSameGiven(a, b, givenNames) === true;
}

/** Undefined if one of the names has no given name. */
function hasSameGiven(a: PersonName, b: PersonName, givenNames: GivenNames): boolean | undefined {
  const [given, other] = [comparable(a).given, comparable(b).given];
  if (given !== undefined && other !== undefined)
    return areSome(given, other, (left, right) => isSameGiven(left, right, givenNames));
  const [text, otherText] = [textOnly(a), textOnly(b)];
  if (given !== undefined && otherText !== undefined)
    return !isInitial(given[0]) && areSome(otherText, given, contains);
  if (other !== undefined && text !== undefined) return !isInitial(other[0]) && areSome(text, other, contains);
  return text !== undefined && text[0] === otherText?.[0] && terms(text[0]).length > 1 ? true : undefined;
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
  const furtherOf = (name: PersonName): Spellings => comparable(name).otherGiven ?? [''];
  const [left, right] = [furtherOf(a), furtherOf(b)];
  return !areSome(
    left,
    right,
    (one, other) => letters(one).startsWith(letters(other)) || letters(other).startsWith(letters(one)),
  );
}

/** One letter of a script in which that is not a name. */
const isInitial = (name: string): boolean =>
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u.test(letters(name));

const textOnly = (name: PersonName): Spellings | undefined =>
  name.family === undefined ? comparable(name).text : undefined;
