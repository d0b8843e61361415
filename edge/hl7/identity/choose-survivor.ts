/**
 * Which patient a merge keeps. The repetitions of PID-3 have no order (HL7 v2.5.1 §3.4.2.3), and some senders repeat the
 * number of MRG-1 in it: the patient of PID-3 that is not the one of MRG-1 stays.
 */
import { fit } from './person.ts';
import { isAgreed, isSamePerson, resolveLosers, type LoserRequest } from './resolve-loser.ts';
import { holdersOf, survivorOf, type KnownNumber, type SentNumber } from './resolve.ts';
import { isSame, type ReadNumber } from './sent.ts';

export interface SurvivorChoice {
  /** All of PID, the one by which the survivor is looked up first. */
  readonly numbers: readonly ReadNumber[];
  /** Those by which the survivor is looked up: not the ones that only patients have who are merged into it. */
  readonly asked: readonly ReadNumber[];
  /** What is known without the patients that are merged into the survivor. */
  readonly known: readonly KnownNumber[];
  /** Numbers that PID only repeats from MRG: the survivor gets them as old ones. */
  readonly repeated: ReadonlySet<SentNumber>;
}

export interface ChoiceRequest extends Omit<LoserRequest, 'survivor' | 'numbers'> {
  /** Of PID. */
  readonly numbers: readonly ReadNumber[];
  /** Of MRG. */
  readonly mrgNumbers: readonly ReadNumber[];
}

export function chooseSurvivor(request: ChoiceRequest): SurvivorChoice {
  const { numbers, mrgNumbers, known } = request;
  const meant = losersFor('', request);
  const isOfMrg = (number: ReadNumber): boolean => mrgNumbers.some((other) => isSame(other, number));
  const ranks = new Map(numbers.map((number) => [number, rankOf(number, isOfMrg(number), meant, request)]));
  const sorted = numbers.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));

  const [first] = sorted;
  const kept = first === undefined ? [] : survivorsOf(first, request);
  const gone = losersFor(kept[0] ?? '', request);
  const isRetired = (number: ReadNumber): boolean =>
    number.identifies &&
    !numbers.some((other) => other.isAlternate !== true && isSame(other, number)) &&
    !holdersOf(number, request).some(({ patient }) => kept.includes(patient));
  // Where MRG retires another number, one of both segments is the survivor's: an enterprise's number, say.
  const isRepeated = first !== undefined && !isOfMrg(first) && !mrgNumbers.some(isRetired);
  const repeated = new Set(numbers.filter((number) => isOfMrg(number) && (isRepeated || number.isAlternate === true)));
  return {
    numbers: sorted,
    asked: sorted.filter((number) => {
      const owners = survivorsOf(number, request);
      return !repeated.has(number) && (owners.length === 0 || owners.some((id) => !gone.includes(id)));
    }),
    known: known.filter(({ patient }) => !gone.includes(survivorOf(patient, request))),
    repeated,
  };
}

/** Patients that are merged into this one, `''` for a new one. */
function losersFor(survivor: string, request: ChoiceRequest): readonly string[] {
  const losers = resolveLosers({ ...request, numbers: request.mrgNumbers, survivor });
  return losers.kind === 'told' ? losers.losers : [];
}

/**
 * The lower, the more likely a number is that of the patient that stays. Messages name relatives too, a newborn's the mother:
 * only a patient who agrees, or who has got the other's record before, goes before the order of PID-3, and one who contradicts
 * comes last.
 *
 * @param meant patients of MRG
 */
function rankOf(number: ReadNumber, isOfMrg: boolean, meant: readonly string[], request: ChoiceRequest): number {
  if (!number.identifies || number.isAlternate === true) return 6;
  const holders = holdersOf(number, request);
  const isCurrent = holders.some(({ patient, led }) => led && survivorOf(patient, request) === patient);
  if (isOfMrg) return isCurrent ? 4 : 5;
  const others = holders.filter(({ patient }) => !meant.includes(survivorOf(patient, request)));
  if (holders.length > 0 && others.length === 0) return isCurrent ? 3 : 5;
  const led = others.filter((holder) => holder.led).map(({ patient }) => survivorOf(patient, request));
  const isThatPerson = (id: string): boolean =>
    isAgreed(id, request) || meant.some((other) => isSamePerson(id, other, request)) || hasMerged(id, request);
  if (led.some(isThatPerson)) return 0;
  return led.some((id) => contradicts(id, meant, request)) ? 2 : 1;
}

/** Whether a record of MRG has been merged into the patient: the message has come again. */
const hasMerged = (id: string, request: ChoiceRequest): boolean =>
  request.mrgNumbers.some((number) =>
    holdersOf(number, request).some(({ patient }) => patient !== id && survivorOf(patient, request) === id),
  );

/** Whether a record contradicts what PID says of the person, or the records that are to be merged into it. */
function contradicts(
  id: string,
  meant: readonly string[],
  { charts, person, placeholderDates }: ChoiceRequest,
): boolean {
  const chart = charts.get(id)?.person;
  if (chart === undefined) return false;
  const persons = [person, ...meant.flatMap((other) => charts.get(other)?.person ?? [])];
  return persons.some((each) => fit(each, chart, placeholderDates) === 'contradicts');
}

const survivorsOf = (number: SentNumber, request: ChoiceRequest): string[] =>
  holdersOf(number, request).map(({ patient }) => survivorOf(patient, request));
