/** Finds the stored identifiers that an identifier of a message means, and the patients at the end of their merges. Pure. */
import { isBareName, nameOfAuthority } from '../../store/patient-identity.ts';
import { aliasKey, type AssigningAuthority, type Taught } from '../mapping/assigning-authority.ts';
import type { StoredPerson } from './person.ts';

/** An identifier of PID-3 or MRG-1. */
export interface SentIdentifier {
  readonly value: string;
  readonly authority: AssigningAuthority;
  /** By its type code; see `identifier-rules.ts`. */
  readonly identifies: boolean;
  /** Code of table 0203; `''` without one. */
  readonly type: string;
  /** From PID-2 or PID-4: it finds only an agreeing patient. */
  readonly isAlternate?: boolean;
  /** PID-21 names it as the identifier of the newborn's mother. */
  readonly isMothers?: boolean;
  /** Its location, for ERR-2. */
  readonly at: string;
}

export interface StoredIdentifier {
  readonly patient: string;
  readonly authority: string;
  readonly value: string;
  readonly identifies: boolean;
  /** It was the leading identifier of a PID-3, or a FHIR client wrote it; else a message only listed it. */
  readonly led: boolean;
  readonly isAssumed: boolean;
}

export interface StoredPatient {
  readonly id: string;
  /** The patient at the end of the chain of merges; its own id if it was not merged. */
  readonly survivor: string;
  readonly person: StoredPerson;
  /** Its current identifiers that identify it, also those that no message asks for. */
  readonly identifiers: readonly Pick<StoredIdentifier, 'authority' | 'value'>[];
  /** Ids of patients that were merged with it at some time. */
  readonly mergedWith: readonly string[];
}

export interface StoredIdentity {
  readonly stored: readonly StoredIdentifier[];
  readonly patients: Pick<ReadonlyMap<string, StoredPatient>, 'get'>;
  /** URIs of namespaces, from the site or this key. */
  readonly namedUris: ReadonlySet<string>;
  /** Namespaces and URIs that an administrator separated (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
}

/** Stored identifiers with the value and the authority. */
export const holdersOf = (
  { value, authority, identifies }: SentIdentifier,
  { stored }: Pick<StoredIdentity, 'stored'>,
): readonly StoredIdentifier[] =>
  stored.filter(
    (identifier) =>
      identifier.value === value &&
      authority.ids.includes(identifier.authority) &&
      identifier.identifies === identifies,
  );

/** An identifier of the message and a stored one with equal values, whose authorities may be one but are not known to be. */
export interface SameValue {
  readonly sent: SentIdentifier;
  readonly stored: StoredIdentifier;
}

export function sameValueElsewhere(
  sent: SentIdentifier,
  { stored, namedUris, rejected }: Pick<StoredIdentity, 'stored' | 'namedUris' | 'rejected'>,
): readonly SameValue[] {
  const { value, authority } = sent;
  const mayBeSame = (identifier: StoredIdentifier): boolean => {
    if (identifier.value !== value || !identifier.identifies || authority.ids.includes(identifier.authority))
      return false;
    const alias = aliasOf(authority.id, identifier.authority);
    if (alias !== undefined && rejected.has(aliasKey(alias))) return false;
    if (authority.isAssumed || identifier.isAssumed) return true;
    if (isBareName(authority.id) === isBareName(identifier.authority)) return false;
    const uri = isBareName(authority.id) ? identifier.authority : authority.id;
    return !namedUris.has(uri);
  };
  return stored.filter(mayBeSame).map((identifier) => ({ sent, stored: identifier }));
}

/** The namespace of one and the URI of the other, which would be one authority. */
export function aliasOf(one: string, other: string): Taught | undefined {
  const [bare, uri] = isBareName(one) ? [one, other] : [other, one];
  const namespace = nameOfAuthority(bare);
  return namespace === undefined || isBareName(uri) ? undefined : { namespace, uri };
}

export const survivorOf = (patient: string, { patients }: Pick<StoredIdentity, 'patients'>): string =>
  patients.get(patient)?.survivor ?? patient;

export const survivors = (
  identifiers: readonly StoredIdentifier[],
  request: Pick<StoredIdentity, 'patients'>,
): readonly string[] => [...new Set(identifiers.map(({ patient }) => survivorOf(patient, request)))];

/** Identifiers with the same value whose authority has the meaning of the sent one for another key, or is contested. */
export function heldUncertainly(
  sent: SentIdentifier,
  request: Pick<StoredIdentity, 'stored'>,
): readonly StoredIdentifier[] {
  const { ids, uncertain = [], isContested } = sent.authority;
  const asked = isContested === true ? [...ids, ...uncertain] : uncertain;
  return request.stored.filter(
    ({ value, authority, identifies }) => value === sent.value && asked.includes(authority) && identifies,
  );
}

/** Identifiers that are the sent one if an uncertain authority is the same. */
export const uncertainHolders = (sent: SentIdentifier, request: StoredIdentity): readonly StoredIdentifier[] => [
  ...heldUncertainly(sent, request),
  ...sameValueElsewhere(sent, request).map(({ stored }) => stored),
];

/** Identifiers that are the sent one, certainly or perhaps. */
export const everyHolder = (sent: SentIdentifier, request: StoredIdentity): readonly StoredIdentifier[] => [
  ...holdersOf(sent, request),
  ...uncertainHolders(sent, request),
];
