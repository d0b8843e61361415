/**
 * Whether two descriptions can be of one person: what a message says of its patient against what a chart says. `agree`
 * is strict, because it joins; `contradict` is lenient, because it refuses. Twins, fathers and sons do not agree; a person
 * who married or whose birth date was corrected does not contradict.
 */
import type { PersonName } from '../../store/patient-identity.ts';
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
export interface ChartPerson extends Person {
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
  'unbekannt',
  'inconnu',
]);

/** What newborns are called until they have a name: twins are called the same. */
const NEWBORN = /^(?:baby|babe|bb|bg|newborn|new born|infant|neonate|neugeborenes|boy|girl|twin)(?:\b|$)/;

/** A sex that says nothing. */
const UNKNOWN_SEX: ReadonlySet<string> = new Set(['unknown']);

const MAX_PLAUSIBLE_CORRECTION_YEARS = 12;

/** @param placeholders the site's own birth dates that mean nothing */
export function agree(sent: Person, chart: Person, placeholders: ReadonlySet<string>): boolean {
  const sentDate = knownDate(sent.birthDate, placeholders);
  if (sentDate === undefined || sentDate !== knownDate(chart.birthDate, placeholders)) return false;
  if (differ(sexOf(sent), sexOf(chart)) || differ(sent.birthOrder, chart.birthOrder)) return false;
  return sent.names.some((a) => chart.names.some((b) => !isNewborn(a) && !isNewborn(b) && isSameName(a, b)));
}

/**
 * How well a message fits the person of a chart: against every name and birth date that the chart has had. It cannot be
 * about that person (`contradicts`) where the birth dates are a generation apart, birth date and family name differ, or
 * three of family name, first given name, sex and birth date: husband and wife, brother and sister. Where two of them
 * differ people should look at it (`doubtful`). Absent and placeholder values differ from nothing.
 */
export function fit(
  sent: Person,
  chart: ChartPerson,
  placeholders: ReadonlySet<string>,
): 'fits' | 'doubtful' | 'contradicts' {
  const sentDate = knownDate(sent.birthDate, placeholders);
  const dates = [chart.birthDate, ...chart.pastBirthDates].flatMap((date) => knownDate(date, placeholders) ?? []);
  const isOtherDate = sentDate !== undefined && dates.length > 0 && !dates.includes(sentDate);
  if (isOtherDate && dates.every((date) => yearsBetween(date, sentDate) > MAX_PLAUSIBLE_CORRECTION_YEARS))
    return 'contradicts';
  const names = [...chart.names, ...chart.pastNames];
  const isOtherFamily = isNoneOf(sent.names.filter(hasFamily), names.filter(hasFamily), isSameFamily);
  if (isOtherDate && isOtherFamily) return 'contradicts';
  const isOtherGiven = isNoneOf(sent.names, names, mayHaveSameGiven);
  const differences = [isOtherDate, isOtherFamily, isOtherGiven, differ(bornAs(sent), bornAs(chart))].filter(Boolean);
  return differences.length > 2 ? 'contradicts' : differences.length === 2 ? 'doubtful' : 'fits';
}

/** Of what either does not say nothing is different. */
const isNoneOf = (
  sent: readonly PersonName[],
  names: readonly PersonName[],
  isSame: (a: PersonName, b: PersonName) => boolean,
): boolean => sent.length > 0 && names.length > 0 && !sent.some((a) => names.some((b) => isSame(a, b)));

/** A short form or an initial is the same name; what is only text, and what newborns are called, may be any. */
function mayHaveSameGiven(a: PersonName, b: PersonName): boolean {
  const [given, other] = [known(a.given), known(b.given)];
  if (given === undefined || other === undefined || isNewborn(a) || isNewborn(b)) return true;
  const [left, right] = [letters(given), letters(other)];
  return left.startsWith(right) || right.startsWith(left) || words(given).some((word) => words(other).includes(word));
}

/** What is neither of the two says nothing of which of them it was. */
const bornAs = ({ sex }: Person): string | undefined => (sex === 'male' || sex === 'female' ? sex : undefined);

/**
 * Whether a name is that of somebody else than the chart's person: another family name, or another first given name. What
 * either does not say, or says as a placeholder, differs in nothing.
 */
export function isOtherName(name: PersonName, chart: ChartPerson): boolean {
  const names = [...chart.names, ...chart.pastNames].filter(hasFamily);
  return hasFamily(name) && names.length > 0 && !names.some((other) => isSameName(name, other));
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

const differ = <T>(a: T | undefined, b: T | undefined): boolean => a !== undefined && b !== undefined && a !== b;

const known = (name: string | undefined): string | undefined => {
  const folded = name === undefined ? '' : fold(name);
  return folded === '' || PLACEHOLDER_NAMES.has(folded) ? undefined : folded;
};

const hasFamily = ({ family, text }: PersonName): boolean => known(family) !== undefined || known(text) !== undefined;

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
  const [family, other] = [known(a.family), known(b.family)];
  if (family !== undefined && other !== undefined) return letters(family) === letters(other);
  const [text, otherText] = [known(a.text), known(b.text)];
  if (family !== undefined && otherText !== undefined) return contains(otherText, family);
  if (other !== undefined && text !== undefined) return contains(text, other);
  return text !== undefined && text === otherText;
}

const isNewborn = ({ given }: PersonName): boolean => NEWBORN.test(known(given) ?? '');

function isSameName(a: PersonName, b: PersonName): boolean {
  if (!isSameFamily(a, b)) return false;
  const [given, other] = [known(a.given), known(b.given)];
  if (given !== undefined && other !== undefined) return letters(given) === letters(other);
  const text = given !== undefined && b.family === undefined ? known(b.text) : undefined;
  if (given !== undefined && text !== undefined) return contains(text, given);
  const otherText = other !== undefined && a.family === undefined ? known(a.text) : undefined;
  if (other !== undefined && otherText !== undefined) return contains(otherText, other);
  return true;
}
