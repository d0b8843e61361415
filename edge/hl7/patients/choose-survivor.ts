/**
 * Selects the patient that a merge keeps. The repetitions of PID-3 have no order (HL7 v2.5.1 §3.4.2.3), and some senders repeat
 * MRG-1 in it. So the survivor is the patient of PID-3 that is not a patient of MRG-1.
 */
import { fit } from './person.ts';
import { isSamePerson, resolveMerged, type MergedRequest } from './resolve-merged.ts';
import { holdersOf, survivorOf, type StoredIdentifier, type SentIdentifier } from './identifier-holders.ts';
import { agrees } from './resolve-request.ts';
import { hasAuthorityOf, isSame, type ReadIdentifier } from './sent-identifiers.ts';

export interface SurvivorChoice {
  /** All identifiers of PID, the survivor's first. */
  readonly identifiers: readonly ReadIdentifier[];
  /** The identifiers that find the survivor: without those that only merged patients have. */
  readonly asked: readonly ReadIdentifier[];
  /** Without the patients that are merged into the survivor. */
  readonly stored: readonly StoredIdentifier[];
  /** Identifiers that PID only repeats from MRG: the survivor gets them as old ones. */
  readonly repeated: ReadonlySet<SentIdentifier>;
  /**
   * The patients to list if the survivor is not clear, otherwise empty. PID-3 then has an identifier that only MRG's patient lists,
   * and another identifier. The other identifier is unknown or its patient is uncertain, so it may be a relative's.
   */
  readonly unclear: readonly string[];
}

export interface ChoiceRequest extends Omit<MergedRequest, 'survivor' | 'identifiers'> {
  readonly identifiers: readonly ReadIdentifier[];
  readonly mrgIdentifiers: readonly ReadIdentifier[];
}

export function chooseSurvivor(request: ChoiceRequest): SurvivorChoice {
  const { identifiers, mrgIdentifiers, stored } = request;
  const isOfMrg = (identifier: ReadIdentifier): boolean => mrgIdentifiers.some((other) => isSame(other, identifier));
  const candidates = candidatesOf(request);
  const ranks = new Map(
    identifiers.map((identifier) => [identifier, rankOf(identifier, isOfMrg(identifier), candidates, request)]),
  );
  const placeOf = (identifier: ReadIdentifier): number => RANKS.indexOf(ranks.get(identifier) ?? 'agreeing');
  const sorted = identifiers.toSorted((a, b) => placeOf(a) - placeOf(b));

  const [first] = sorted;
  const kept = first === undefined ? [] : survivorsOf(first, request);
  const gone = mergedInto(kept[0] ?? '', request);
  const isRetired = (identifier: ReadIdentifier): boolean =>
    identifier.identifies &&
    !identifiers.some((other) => other.isAlternate !== true && isSame(other, identifier)) &&
    !holdersOf(identifier, request).some(({ patient }) => kept.includes(patient));
  // If MRG retires another identifier, one in both segments is the survivor's, such as an enterprise identifier.
  const isRepeated = first !== undefined && !isOfMrg(first) && !mrgIdentifiers.some(isRetired);
  const isListedByMerged = (identifier: ReadIdentifier): boolean =>
    ranks.get(identifier) === 'listed' &&
    !isOfMrg(identifier) &&
    mrgIdentifiers.some((other) => hasAuthorityOf(identifier, other)) &&
    holdersOf(identifier, request).every(({ led }) => !led);
  const repeated = new Set(
    identifiers.filter((identifier) => isOfMrg(identifier) && (isRepeated || identifier.isAlternate === true)),
  );
  return {
    identifiers: sorted,
    asked: sorted.filter((identifier) => {
      const owners = survivorsOf(identifier, request);
      return !repeated.has(identifier) && (owners.length === 0 || owners.some((id) => !gone.includes(id)));
    }),
    stored: stored.filter(({ patient }) => !gone.includes(survivorOf(patient, request))),
    repeated,
    unclear:
      first !== undefined && ranks.get(first) === 'uncertain' && identifiers.some(isListedByMerged)
        ? [...candidates.patientsOfMrg, ...kept]
        : [],
  };
}

/** @param survivor `''` for a new patient */
function mergedInto(survivor: string, request: ChoiceRequest): readonly string[] {
  const found = resolveMerged({ ...request, identifiers: request.mrgIdentifiers, survivor });
  return found.kind === 'resolved' ? found.patients : [];
}

interface Candidates {
  readonly patientsOfMrg: readonly string[];
  /**
   * Compares a patient with the person of PID and of MRG. Undefined if neither is certain. A patient that a record of MRG was
   * merged into is that person: the message was sent again.
   */
  readonly isThatPerson: (id: string) => boolean | undefined;
}

function candidatesOf(request: ChoiceRequest): Candidates {
  const { mrgIdentifiers, patients, person, placeholderDates } = request;
  const patientsOfMrg = mergedInto('', request);
  const holders = mrgIdentifiers.flatMap((identifier) => holdersOf(identifier, request));
  const merged = new Set(
    holders.map(({ patient }) => survivorOf(patient, request)).filter((id, at) => id !== holders[at]?.patient),
  );
  const persons = [person, ...patientsOfMrg.flatMap((id) => patients.get(id)?.person ?? [])];
  const judge = (id: string): boolean | undefined => {
    const stored = patients.get(id)?.person;
    if (stored === undefined) return undefined;
    if (merged.has(id) || agrees(id, request) || patientsOfMrg.some((other) => isSamePerson(id, other, request)))
      return true;
    return persons.some((each) => fit(each, stored, placeholderDates) === 'contradicts') ? false : undefined;
  };
  const judged = new Map<string, boolean | undefined>();
  return {
    patientsOfMrg,
    isThatPerson: (id) => {
      if (!judged.has(id)) judged.set(id, judge(id));
      return judged.get(id);
    },
  };
}

/** The ranks of the identifiers of PID. The likelier an identifier is the survivor's, the earlier its rank. */
const RANKS = [
  /** Its patient agrees with the person of PID or MRG. */
  'agreeing',
  /** It leads to the patient of MRG-1, and has the authority of MRG-1. */
  'of-merged',
  /** It is unknown, or its patient neither agrees nor contradicts: it may be a relative's. */
  'uncertain',
  /** It leads to the patient of MRG-1, and has another authority. */
  'of-merged-elsewhere',
  /** MRG has it too. */
  'in-mrg',
  /** The patient of MRG-1 only lists it, or it has merged patients only. */
  'listed',
  /** It is the mother's, or its patient contradicts: messages name relatives too. */
  'of-relative',
  'not-identifying',
] as const;

/** The order of PID-3 counts only within a rank. A contradicting patient is even behind the patient of MRG-1. */
function rankOf(
  identifier: ReadIdentifier,
  isOfMrg: boolean,
  { patientsOfMrg, isThatPerson }: Candidates,
  request: ChoiceRequest,
): (typeof RANKS)[number] {
  if (!identifier.identifies || identifier.isAlternate === true) return 'not-identifying';
  if (identifier.isMothers === true) return 'of-relative';
  const holders = holdersOf(identifier, request);
  const isCurrent = holders.some(({ patient, led }) => led && survivorOf(patient, request) === patient);
  if (isOfMrg) return isCurrent ? 'in-mrg' : 'listed';
  const others = holders.filter(({ patient }) => !patientsOfMrg.includes(survivorOf(patient, request)));
  if (holders.length > 0 && others.length === 0) {
    if (!isCurrent) return 'listed';
    const hasAuthority = request.mrgIdentifiers.some((other) => hasAuthorityOf(identifier, other));
    return hasAuthority ? 'of-merged' : 'of-merged-elsewhere';
  }
  const led = others.filter((holder) => holder.led).map(({ patient }) => isThatPerson(survivorOf(patient, request)));
  if (led.includes(true)) return 'agreeing';
  return led.includes(false) ? 'of-relative' : 'uncertain';
}

const survivorsOf = (identifier: SentIdentifier, request: ChoiceRequest): string[] =>
  holdersOf(identifier, request).map(({ patient }) => survivorOf(patient, request));
