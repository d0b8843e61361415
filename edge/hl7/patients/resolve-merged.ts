/**
 * Resolves the patients of MRG like that of PID-3. MRG has no personal data except a name (HL7 v2.5.1 §3.4.9). An impossible merge is
 * rejected, because the sender would assume that it was done.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { ERROR_REASONS, type ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { PersonName } from '../../store/patient-identity.ts';
import { agree, isOtherName } from './person.ts';
import {
  heldUncertainly,
  holdersOf,
  sameValueElsewhere,
  survivorOf,
  type SentIdentifier,
} from './identifier-holders.ts';
import { agrees, contradicts, type ResolveRequest } from './resolve-request.ts';

export interface MergedRequest extends Pick<
  ResolveRequest,
  'stored' | 'patients' | 'namedUris' | 'rejected' | 'placeholderDates' | 'person' | 'today'
> {
  /** MRG-1 (and MRG-4), in their order. */
  readonly identifiers: readonly SentIdentifier[];
  /** MRG-7. */
  readonly names: readonly PersonName[];
  /** The id of the patient of PID. */
  readonly survivor: string;
  /** MRG, for ERR-2. */
  readonly at: string;
}

export type MergedPatients =
  | {
      readonly kind: 'refused';
      readonly findings: readonly AckError[];
      /** Patients that one of the identifiers may refer to. */
      readonly candidates: readonly string[];
      /** The patient with the identifier, which was merged into another one than the survivor. */
      readonly merged?: string;
    }
  | {
      readonly kind: 'resolved';
      /** Ids of the patients to merge; none if only the survivor, or no patient, has these identifiers. */
      readonly patients: readonly string[];
      /** No patient has one of the identifiers. */
      readonly isUnknown: boolean;
      readonly findings: readonly AckError[];
      /** Possible duplicates that were not merged. */
      readonly left: readonly string[];
    };

type Target =
  /** The survivor has the identifier, or a patient that was merged into it. */
  | { readonly kind: 'survivor' | 'merged' }
  | { readonly kind: 'patient'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unclear'; readonly candidates: readonly string[] }
  /** The patient was merged into another patient than the survivor. */
  | { readonly kind: 'elsewhere'; readonly merged: string };

export function resolveMerged(request: MergedRequest): MergedPatients {
  const { identifiers, at } = request;
  const identifying = identifiers.filter(({ identifies }) => identifies);
  const targets = (identifying.length > 0 ? identifying : identifiers).map((identifier) =>
    targetOf(identifier, request),
  );
  const others = targets.filter(({ kind }) => kind !== 'survivor' && kind !== 'merged' && kind !== 'unknown');
  const first = others[0]?.kind === 'patient' ? likeliest(others, request) : others[0];
  const more = others.filter((each) => each !== first);
  const isUnknown = targets.some(({ kind }) => kind === 'unknown');
  if (first === undefined) return { kind: 'resolved', patients: [], isUnknown, findings: [], left: [] };
  if (first.kind === 'elsewhere') {
    const findings = [finding('E', '204', at, ERROR_REASONS['merged-elsewhere'], 'merged-elsewhere')];
    return { kind: 'refused', findings, candidates: [], merged: first.merged };
  }
  if (first.kind !== 'patient') return unresolved(at, first.kind === 'unclear' ? first.candidates : []);

  // If the message is sent again, the first patient is already merged: the others must still agree with it.
  const main = targets.some(({ kind }) => kind === 'merged') ? request.survivor : first.id;
  const ids = unique([first, ...more].flatMap((each) => (each.kind === 'patient' ? [each.id] : [])));
  const unclear = more.flatMap((each) => (each.kind === 'unclear' ? each.candidates : []));
  const merged = ids.filter((id) => id === main || isSamePerson(main, id, request));
  const left = [...ids.filter((id) => !merged.includes(id)), ...unclear];
  const findings =
    left.length === 0 ? [] : [finding('W', '205', at, ERROR_REASONS['merge-of-several'], 'merge-of-several')];
  if (merged.some((id) => isOther(id, request))) {
    const differs =
      'The patient of MRG-1 differs from PID or MRG-7 in name, birth date or sex. It was merged all the same.';
    findings.push(finding('W', '205', at, differs, 'patient-differs'));
  }
  return { kind: 'resolved', patients: merged, isUnknown, findings, left };
}

/** A newborn's MRG may list the mother: an agreeing patient first, then a patient that does not contradict, then the first. */
function likeliest(others: readonly Target[], request: MergedRequest): Target | undefined {
  const find = (isLikely: (id: string) => boolean): Target | undefined =>
    others.find((each) => each.kind === 'patient' && isLikely(each.id));
  return find((id) => agrees(id, request)) ?? find((id) => !isOther(id, request)) ?? others[0];
}

/** A merge is done also if the persons differ, but the sender may have confused the identifiers. */
const isOther = (id: string, request: MergedRequest): boolean =>
  isNamedOtherwise(id, request) || contradicts(id, request);

function isNamedOtherwise(id: string, { patients, names }: MergedRequest): boolean {
  const stored = patients.get(id);
  return stored !== undefined && names.length > 0 && names.every((name) => isOtherName(name, stored.person));
}

function targetOf(identifier: SentIdentifier, request: MergedRequest): Target {
  const { survivor } = request;
  const isAnotherPerson = (id: string): boolean => isNamedOtherwise(id, request);
  const endOf = (id: string): string => survivorOf(id, request);
  const holders = identifier.authority.isContested === true ? [] : holdersOf(identifier, request);
  const uncertain = holders.length > 0 ? [] : heldUncertainly(identifier, request);
  if (uncertain.length > 0) return uncertainTarget(unique(uncertain.map(({ patient }) => endOf(patient))), request);
  if (holders.some(({ patient }) => endOf(patient) === survivor)) {
    // FHIR clients may give one identifier to several patients: another record of the same person is merged into the survivor.
    const others = unique(holders.filter(({ led }) => led).map(({ patient }) => endOf(patient)));
    const [other, ...more] = others.filter((id) => id !== survivor && agrees(id, request));
    return other !== undefined && more.length === 0
      ? { kind: 'patient', id: other }
      : { kind: holders.some(({ patient }) => patient === survivor) ? 'survivor' : 'merged' };
  }
  const led = unique(holders.filter((holder) => holder.led).map(({ patient }) => patient));
  const targets = led.length < 2 ? led : led.filter((id) => !isAnotherPerson(id));
  const [merged = ''] = targets;
  const [only, ...more] = unique(targets.map(endOf));
  if (more.length > 0 || (only === undefined && led.length > 0))
    return { kind: 'unclear', candidates: unique(led.map(endOf)) };
  if (only !== undefined) return targets.includes(only) ? { kind: 'patient', id: only } : { kind: 'elsewhere', merged };

  // The identifier was only listed: the person must agree, as for PID-3. The sender claims that it is the survivor's person.
  const listed = unique(holders.map(({ patient }) => endOf(patient))).filter((id) => !isAnotherPerson(id));
  const agreeing = listed.filter((id) => agrees(id, request));
  const [others, ...several] = agreeing;
  if (others !== undefined && several.length === 0) return { kind: 'patient', id: others };

  const elsewhere = sameValueElsewhere(identifier, request).map(({ stored }) => endOf(stored.patient));
  const candidates = unique([...listed, ...elsewhere]).filter((id) => id !== survivor && !isAnotherPerson(id));
  return candidates.length === 0 ? { kind: 'unknown' } : { kind: 'unclear', candidates };
}

/** The authority of the identifier is uncertain: it means only a patient that agrees with PID. */
function uncertainTarget(ends: readonly string[], request: MergedRequest): Target {
  const { survivor } = request;
  const candidates = ends.filter((id) => id !== survivor);
  const [only, ...more] = candidates.filter((id) => agrees(id, request));
  if (only !== undefined && more.length === 0) return { kind: 'patient', id: only };
  return only === undefined && ends.includes(survivor) ? { kind: 'merged' } : { kind: 'unclear', candidates };
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
  return {
    kind: 'refused',
    findings: [finding('E', '204', at, ERROR_REASONS['merge-unresolved'], 'merge-unresolved')],
    candidates,
  };
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
