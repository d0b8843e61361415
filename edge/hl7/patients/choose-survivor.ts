/**
 * Which patient a merge keeps. The repetitions of PID-3 have no order (HL7 v2.5.1 §3.4.2.3), and some senders repeat the
 * number of MRG-1 in it: the patient of PID-3 that is not the one of MRG-1 stays.
 */
import { fit } from './person.ts';
import { isSamePerson, resolveLosers, type LoserRequest } from './resolve-merged.ts';
import { agrees, holdersOf, survivorOf, type KnownNumber, type SentNumber } from './resolve.ts';
import { isSame, type ReadNumber } from './sent-identifiers.ts';

export interface SurvivorChoice {
  /** All of PID, the one by which the survivor is looked up first. */
  readonly numbers: readonly ReadNumber[];
  /** Those by which the survivor is looked up: without numbers that only the merged patients have. */
  readonly asked: readonly ReadNumber[];
  /** What is known, without the patients that are merged into the survivor. */
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
  const isOfMrg = (number: ReadNumber): boolean => mrgNumbers.some((other) => isSame(other, number));
  const candidates = candidatesOf(request);
  const ranks = new Map(numbers.map((number) => [number, rankOf(number, isOfMrg(number), candidates, request)]));
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

interface Candidates {
  /** Patients of MRG. */
  readonly meant: readonly string[];
  /**
   * Whether a patient is the person of PID or of MRG. Undefined: that is not known. A patient is, into whom a record of MRG
   * was merged before: the message has come again.
   */
  readonly isThatPerson: (id: string) => boolean | undefined;
}

function candidatesOf(request: ChoiceRequest): Candidates {
  const { mrgNumbers, charts, person, placeholderDates } = request;
  const meant = losersFor('', request);
  const holders = mrgNumbers.flatMap((number) => holdersOf(number, request));
  const merged = new Set(
    holders.map(({ patient }) => survivorOf(patient, request)).filter((id, at) => id !== holders[at]?.patient),
  );
  const persons = [person, ...meant.flatMap((id) => charts.get(id)?.person ?? [])];
  const judge = (id: string): boolean | undefined => {
    const chart = charts.get(id)?.person;
    if (chart === undefined) return undefined;
    if (merged.has(id) || agrees(id, request) || meant.some((other) => isSamePerson(id, other, request))) return true;
    return persons.some((each) => fit(each, chart, placeholderDates) === 'contradicts') ? false : undefined;
  };
  const judged = new Map<string, boolean | undefined>();
  return {
    meant,
    isThatPerson: (id) => {
      if (!judged.has(id)) judged.set(id, judge(id));
      return judged.get(id);
    },
  };
}

/**
 * The lower, the more likely a number is that of the patient that stays. Messages name relatives too, a newborn's the mother:
 * the order of PID-3 counts, but a patient known to be that person goes before it, and one who contradicts comes last.
 */
function rankOf(
  number: ReadNumber,
  isOfMrg: boolean,
  { meant, isThatPerson }: Candidates,
  request: ChoiceRequest,
): number {
  if (!number.identifies || number.isAlternate === true) return 6;
  const holders = holdersOf(number, request);
  const isCurrent = holders.some(({ patient, led }) => led && survivorOf(patient, request) === patient);
  if (isOfMrg) return isCurrent ? 4 : 5;
  const others = holders.filter(({ patient }) => !meant.includes(survivorOf(patient, request)));
  if (holders.length > 0 && others.length === 0) return isCurrent ? 3 : 5;
  const led = others.filter((holder) => holder.led).map(({ patient }) => isThatPerson(survivorOf(patient, request)));
  return led.includes(true) ? 0 : led.includes(false) ? 2 : 1;
}

const survivorsOf = (number: SentNumber, request: ChoiceRequest): string[] =>
  holdersOf(number, request).map(({ patient }) => survivorOf(patient, request));
