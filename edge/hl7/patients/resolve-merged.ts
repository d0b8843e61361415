/**
 * Whom a merge takes away: the numbers of MRG, resolved as those of PID-3 are, except that MRG describes nobody but by a
 * name (HL7 v2.5.1 §3.4.9). A merge that cannot be done is refused: the sender would take it for done.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { PersonName } from '../../store/patient-identity.ts';
import { agree, fit, isOtherName } from './person.ts';
import {
  agrees,
  holdersOf,
  sameValueElsewhere,
  survivorOf,
  type ResolveRequest,
  type SentIdentifier,
} from './resolve.ts';

export interface MergedRequest extends Pick<
  ResolveRequest,
  'stored' | 'patients' | 'namedUris' | 'rejected' | 'placeholderDates' | 'person'
> {
  /** Of MRG-1 (and MRG-4), in their order. */
  readonly identifiers: readonly SentIdentifier[];
  /** MRG-7. */
  readonly names: readonly PersonName[];
  /** The chart of PID. */
  readonly survivor: string;
  /** MRG, for ERR-2. */
  readonly at: string;
}

export type MergedPatients =
  | {
      readonly kind: 'refused';
      readonly findings: readonly AckError[];
      /** Charts that one of the numbers may mean. */
      readonly candidates: readonly string[];
    }
  | {
      readonly kind: 'resolved';
      /** Charts to be merged; none where every number is the survivor's, or nobody's. */
      readonly losers: readonly string[];
      /** A number that no chart has. */
      readonly isUnknown: boolean;
      readonly findings: readonly AckError[];
      /** Charts that may be of the same person, and were left. */
      readonly left: readonly string[];
    };

type Target =
  /** The survivor's own number, or that of a record that has been merged into it. */
  | { readonly kind: 'survivor' | 'merged' }
  | { readonly kind: 'patient'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unclear'; readonly candidates: readonly string[] }
  /** The chart was merged into another than the survivor. */
  | { readonly kind: 'elsewhere'; readonly id: string };

export function resolveMerged(request: MergedRequest): MergedPatients {
  const { identifiers, at } = request;
  const identifying = identifiers.filter(({ identifies }) => identifies);
  const meant = (identifying.length > 0 ? identifying : identifiers).map((identifier) => targetOf(identifier, request));
  const told = meant.filter(({ kind }) => kind !== 'survivor' && kind !== 'merged' && kind !== 'unknown');
  const first = told[0]?.kind === 'patient' ? likeliest(told, request) : told[0];
  const more = told.filter((each) => each !== first);
  const isUnknown = meant.some(({ kind }) => kind === 'unknown');
  if (first === undefined) return { kind: 'resolved', losers: [], isUnknown, findings: [], left: [] };
  if (first.kind === 'elsewhere') {
    const message = 'the patient of MRG-1 has been merged into another patient than that of PID-3';
    return { kind: 'refused', findings: [finding('E', '204', at, message, 'merged-elsewhere')], candidates: [] };
  }
  if (first.kind !== 'patient') return unresolved(at, first.kind === 'unclear' ? first.candidates : []);

  // When the message comes again the first has been merged: the others must still agree with it.
  const main = meant.some(({ kind }) => kind === 'merged') ? request.survivor : first.id;
  const ids = unique([first, ...more].flatMap((each) => (each.kind === 'patient' ? [each.id] : [])));
  const unclear = more.flatMap((each) => (each.kind === 'unclear' ? each.candidates : []));
  const losers = ids.filter((id) => id === main || isSamePerson(main, id, request));
  const left = [...ids.filter((id) => !losers.includes(id)), ...unclear];
  const message = 'MRG-1 has numbers of several patients who are not told to be one: only the first was merged';
  const findings = left.length === 0 ? [] : [finding('W', '205', at, message, 'merge-of-several')];
  if (losers.some((id) => isOther(id, request))) {
    const who = 'the patient of MRG-1 is another person than PID, or MRG-7, says: merged all the same';
    findings.push(finding('W', '205', at, who, 'patient-differs'));
  }
  return { kind: 'resolved', losers, isUnknown, findings, left };
}

/** A newborn's MRG may list the mother: the patient who agrees with PID, else one who does not contradict, else the first. */
function likeliest(told: readonly Target[], request: MergedRequest): Target | undefined {
  const find = (isLikely: (id: string) => boolean): Target | undefined =>
    told.find((each) => each.kind === 'patient' && isLikely(each.id));
  return find((id) => agrees(id, request)) ?? find((id) => !isOther(id, request)) ?? told[0];
}

/** Who says that two charts are one has the last word, but may have mistaken the number. */
function isOther(id: string, { patients, person, names, placeholderDates }: MergedRequest): boolean {
  const stored = patients.get(id)?.person;
  if (stored === undefined) return false;
  const isNamedOtherwise = names.length > 0 && names.every((name) => isOtherName(name, stored));
  return isNamedOtherwise || fit(person, stored, placeholderDates) === 'contradicts';
}

function targetOf(identifier: SentIdentifier, request: MergedRequest): Target {
  const { survivor, patients, names } = request;
  const endOf = (id: string): string => survivorOf(id, request);
  const holders = holdersOf(identifier, request);
  if (holders.some(({ patient }) => endOf(patient) === survivor)) {
    // FHIR clients may give one number to several: another record of the same person is meant beside the survivor.
    const others = unique(holders.filter(({ led }) => led).map(({ patient }) => endOf(patient)));
    const [other, ...more] = others.filter((id) => id !== survivor && agrees(id, request));
    return other !== undefined && more.length === 0
      ? { kind: 'patient', id: other }
      : { kind: holders.some(({ patient }) => patient === survivor) ? 'survivor' : 'merged' };
  }
  const isAnotherPerson = (id: string): boolean => {
    const stored = patients.get(id);
    return stored !== undefined && names.length > 0 && names.every((name) => isOtherName(name, stored.person));
  };

  const led = unique(holders.filter((holder) => holder.led).map(({ patient }) => patient));
  const meant = led.length < 2 ? led : led.filter((id) => !isAnotherPerson(id));
  const [only, ...more] = unique(meant.map(endOf));
  if (more.length > 0 || (only === undefined && led.length > 0))
    return { kind: 'unclear', candidates: unique(led.map(endOf)) };
  if (only !== undefined) return meant.includes(only) ? { kind: 'patient', id: only } : { kind: 'elsewhere', id: only };

  // Only listed with a patient: as for PID-3 the person must agree, who is the survivor's by what the sender says.
  const listed = unique(holders.map(({ patient }) => endOf(patient))).filter((id) => !isAnotherPerson(id));
  const agreeing = listed.filter((id) => agrees(id, request));
  const [told, ...several] = agreeing;
  if (told !== undefined && several.length === 0) return { kind: 'patient', id: told };

  const elsewhere = sameValueElsewhere(identifier, request).map(({ stored }) => endOf(stored.patient));
  const candidates = unique([...listed, ...elsewhere]).filter((id) => id !== survivor && !isAnotherPerson(id));
  return candidates.length === 0 ? { kind: 'unknown' } : { kind: 'unclear', candidates };
}

export function isSamePerson(
  a: string,
  b: string,
  { patients, placeholderDates }: Pick<MergedRequest, 'patients' | 'placeholderDates'>,
): boolean {
  const [one, other] = [patients.get(a), patients.get(b)];
  return one !== undefined && other !== undefined && agree(one.person, other.person, placeholderDates);
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];

function unresolved(at: string, candidates: readonly string[]): MergedPatients {
  const message = 'the patient of MRG-1 cannot be told apart from another: nothing was merged';
  return { kind: 'refused', findings: [finding('E', '204', at, message, 'merge-unresolved')], candidates };
}

const finding = (
  severity: 'E' | 'W',
  code: '204' | '205',
  at: string,
  message: string,
  reason: ErrorReason,
): AckError => ({
  code,
  severity,
  at,
  message,
  reason,
});
