/** The request of `resolve`, and the comparison of its person with stored patients. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import type { SentIdentifier, StoredIdentity } from './identifier-holders.ts';
import { agree, fit, isUnnamedBeside, mayBeAbout, type Fit, type GivenNames, type Person } from './person.ts';

export interface ResolveRequest extends StoredIdentity {
  /** In the order of the field, without placeholders. */
  readonly identifiers: readonly SentIdentifier[];
  readonly person: Person;
  /** An ADT describes a patient; a result or a document only refers to one. */
  readonly isAdmission: boolean;
  /** The day of the receipt. */
  readonly today: string;
  /** The effect of a contradiction: `hl7IdentityCheck` of the key. */
  readonly check: KeyRecord['hl7_identity_check'];
  /** The site's placeholders for a birth date. */
  readonly placeholderDates: ReadonlySet<string>;
}

/** A person to compare with stored patients. */
type Comparison = Pick<ResolveRequest, 'patients' | 'person' | 'placeholderDates' | 'today'>;

export function agrees(
  patient: string,
  { patients, person, placeholderDates }: Comparison,
  givenNames: GivenNames = 'full',
): boolean {
  const of = patients.get(patient);
  return of !== undefined && agree(person, of.person, placeholderDates, givenNames);
}

export function isAbout(patient: string, { patients, person, placeholderDates }: Comparison): boolean {
  const of = patients.get(patient);
  return of !== undefined && mayBeAbout(person, of.person, placeholderDates);
}

/** A patient that was not looked up counts as described. */
export const isDescribed = (patient: string, { patients }: Pick<Comparison, 'patients'>): boolean =>
  patients.get(patient)?.person.isDescribed ?? true;

export function fitOf(patient: string, { patients, person, placeholderDates, today }: Comparison): Fit {
  const of = patients.get(patient);
  if (of === undefined) return 'fits';
  return isUnnamedBeside(person, of.person, today, placeholderDates)
    ? 'contradicts'
    : fit(person, of.person, placeholderDates);
}

export const contradicts = (patient: string, comparison: Comparison): boolean =>
  fitOf(patient, comparison) === 'contradicts';

export const finding = (severity: 'E' | 'W', at: string, message: string, reason: ErrorReason): AckError => ({
  code: '205',
  severity,
  at,
  message,
  reason,
});
