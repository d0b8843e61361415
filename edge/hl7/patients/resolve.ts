/**
 * Resolves the patient of a message from its identifiers and its person: a stored patient, a new one, or a rejection. Every
 * stored patient with one of the identifiers is a parameter. No ordinary message puts two persons into one record, or splits
 * one person whose records agree (edge/docs/behaviour.md, HL7 v2, Which patient). Pure.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import { isBareName, nameOfDomain } from '../../store/patient-identity.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import { aliasKey, type AssigningAuthority, type Taught } from '../mapping/assigning-authority.ts';
import { agree, fit, type StoredPerson, type GivenNames, type Person } from './person.ts';

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
}

export interface ResolveRequest {
  /** In the order of the field, without placeholders. */
  readonly identifiers: readonly SentIdentifier[];
  readonly person: Person;
  readonly stored: readonly StoredIdentifier[];
  readonly patients: ReadonlyMap<string, StoredPatient>;
  /** An ADT describes a patient; a result or a document only refers to one. */
  readonly isAdmission: boolean;
  /** The effect of a contradiction: `hl7IdentityCheck` of the key. */
  readonly check: KeyRecord['hl7_identity_check'];
  /** The site's placeholders for a birth date. */
  readonly placeholderDates: ReadonlySet<string>;
  /** URIs of namespaces, from the site or this key. */
  readonly namedUris: ReadonlySet<string>;
  /** Namespaces and URIs that an administrator separated (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
}

/** An identifier that was only listed with a patient, and that now leads to another one. */
export interface MovedIdentifier {
  readonly patient: string;
  readonly authority: string;
  readonly value: string;
}

interface Judged {
  readonly findings: readonly AckError[];
  /** Possible duplicates. */
  readonly duplicates: readonly string[];
  /** Identifiers of other patients: they are not copied. */
  readonly foreign: ReadonlySet<SentIdentifier>;
  readonly moved: readonly MovedIdentifier[];
  /** URIs that a namespace may stand for, for the administrator to decide. */
  readonly proposed: readonly Taught[];
}

export type Resolution =
  | ({
      readonly kind: 'known';
      /** The patient that clinical content belongs to. */
      readonly patient: string;
      /**
       * The merged patient that has the identifier: the personal data belongs there. It equals `patient` if the message
       * contradicts the survivor, because the identifier was given to another person.
       */
      readonly oldRecord: string | undefined;
    } & Judged)
  | ({ readonly kind: 'new' } & Judged)
  | {
      readonly kind: 'refused';
      readonly findings: readonly AckError[];
      /** Patients that could not be distinguished. */
      readonly duplicates: readonly string[];
    };

const finding = (severity: 'E' | 'W', at: string, message: string, reason: ErrorReason): AckError => ({
  code: '205',
  severity,
  at,
  message,
  reason,
});

/** Resolves the patient of a PID. A result creates an unknown patient with the personal data that it has. */
export function resolve(request: ResolveRequest): Resolution {
  const { identifiers } = request;
  const identifying = identifiers.filter(({ identifies, isAlternate }) => identifies && isAlternate !== true);
  const [leading] = identifying;
  if (leading === undefined) return byOtherIdentifiers(request);

  const holders = holdersOf(leading, request);
  const led = survivors(
    holders.filter(({ led }) => led),
    request,
  );
  if (led.length > 0) return byLeadingIdentifier(leading, led, request);

  const listed = survivors(holders, request);
  const agreeing = listed.filter((id) => agrees(id, request));
  if (agreeing.length > 1) return refusedAsAmbiguous(leading, agreeing);
  const moved = holders
    .filter((identifier) => !agreeing.includes(survivorOf(identifier.patient, request)))
    .map(({ patient, authority, value }) => ({ patient, authority, value }));
  const [byListed] = agreeing;
  if (byListed !== undefined) return found(byListed, leading, holders, request, { moved });

  // A later identifier finds the patient only if the person agrees.
  const others = identifiers.filter((identifier) => identifier.identifies && identifier !== leading);
  const through = others.flatMap((identifier) => holdersOf(identifier, request));
  const [later] = survivors(through, request).filter((id) => agrees(id, request));
  if (later !== undefined) return found(later, leading, through, request, { moved });

  const elsewhere = identifying.flatMap((identifier) => sameValueElsewhere(identifier, request));
  const likely = survivors(
    elsewhere.map(({ stored }) => stored),
    request,
  );
  const [only, ...more] = likely;
  const isByLeading = elsewhere.some(
    ({ sent, stored }) => sent === leading && survivorOf(stored.patient, request) === only,
  );
  const givenNames = isByLeading ? 'short' : 'full';
  if (moved.length === 0 && only !== undefined && more.length === 0 && agrees(only, request, givenNames)) {
    const message = 'The assigning authority is uncertain. The name and birth date identified the patient.';
    const warning = finding('W', leading.at, message, 'domain-assumed');
    const proposed = elsewhere.flatMap(({ sent, stored }) =>
      sent.authority.isAssumed || stored.isAssumed ? [] : (aliasOf(sent.authority.id, stored.authority) ?? []),
    );
    return found(only, leading, [], request, { findings: [warning], proposed });
  }
  return unknown(leading, [...likely, ...moved.map(({ patient }) => patient)], moved, request);
}

/** Without an identifying identifier: an agreeing patient with one of them, else a new one for an ADT. */
function byOtherIdentifiers(request: ResolveRequest): Resolution {
  const { isAdmission } = request;
  const identifiers = request.identifiers.filter(({ isAlternate }) => isAlternate !== true);
  const [first] = identifiers;
  const holders = identifiers.flatMap((identifier) => holdersOf(identifier, request));
  const [only, ...more] = survivors(holders, request).filter((id) => agrees(id, request));
  if (first !== undefined && only !== undefined && more.length > 0) return refusedAsAmbiguous(first, [only, ...more]);
  if (only !== undefined)
    return { kind: 'known', patient: only, oldRecord: oldRecordOf(only, holders, request), ...PLAIN };
  if (isAdmission) return { kind: 'new', ...PLAIN };
  const message =
    'PID-3 has no identifying identifier, and no patient with one of its identifiers agrees in name and birth date.';
  const refusal = finding('E', first?.at ?? 'PID^1^3', message, 'no-identifying-number');
  return { kind: 'refused', findings: [refusal], duplicates: [] };
}

const PLAIN: Judged = { findings: [], duplicates: [], foreign: new Set(), moved: [], proposed: [] };

/** Resolves the patients that the leading identifier finds. FHIR clients may give one identifier to several. */
function byLeadingIdentifier(leading: SentIdentifier, led: readonly string[], request: ResolveRequest): Resolution {
  const [only, ...more] = led;
  if (only !== undefined && more.length === 0) {
    const isAssumedOnce = holdersOf(leading, request).some(
      ({ isAssumed }) => isAssumed !== leading.authority.isAssumed,
    );
    // Equal values, but one side only assumes the authority: if the persons contradict, it is another patient's identifier.
    if (isAssumedOnce && contradicts(only, request)) return unknown(leading, [only], [], request);
    return found(only, leading, holdersOf(leading, request), request, {});
  }
  const agreeing = led.filter((id) => agrees(id, request));
  const [one, ...several] = agreeing;
  if (one === undefined || several.length > 0) return refusedAsAmbiguous(leading, led);
  const message = 'Several patients have this identifier. The patient that agrees in name and birth date was used.';
  const warning = finding('W', leading.at, message, 'number-of-several');
  const duplicates = led.filter((id) => id !== one);
  return found(one, leading, holdersOf(leading, request), request, { findings: [warning], duplicates });
}

/** Completes a found patient: compares the person, and separates identifiers of other patients. */
function found(
  patient: string,
  leading: SentIdentifier,
  through: readonly StoredIdentifier[],
  request: ResolveRequest,
  extra: Partial<Judged>,
): Resolution {
  const { findings = [], duplicates = [], moved = [], proposed = [] } = extra;
  const oldRecord = oldRecordOf(patient, through, request);
  const differs = differenceFrom(patient, leading, request);
  if (differs?.severity === 'E') return { kind: 'refused', findings: [...findings, differs], duplicates: [] };
  const foreign = foreignIdentifiers(patient, leading, request);
  const copied = [...foreign].filter(([{ isAlternate }]) => isAlternate !== true);
  const several = copied.map(([{ at }]) => identifiersOfSeveral(at));
  return {
    kind: 'known',
    patient: oldRecord !== undefined && contradicts(patient, request) ? oldRecord : patient,
    oldRecord,
    findings: [...findings, ...several, ...(differs === undefined ? [] : [differs])],
    duplicates: [
      ...new Set([
        ...duplicates,
        ...copied.flatMap(([, owners]) => owners),
        ...moved.map((identifier) => identifier.patient),
      ]),
    ],
    foreign: new Set(foreign.keys()),
    moved,
    proposed,
  };
}

/** The merged patient that has the identifier. */
const oldRecordOf = (
  patient: string,
  through: readonly StoredIdentifier[],
  request: ResolveRequest,
): string | undefined =>
  through.map((identifier) => identifier.patient).find((id) => id !== patient && survivorOf(id, request) === patient);

function unknown(
  leading: SentIdentifier,
  likely: readonly string[],
  moved: readonly MovedIdentifier[],
  request: ResolveRequest,
): Resolution {
  const foreign = foreignIdentifiers(undefined, leading, request);
  const copied = [...foreign].filter(([{ isAlternate }]) => isAlternate !== true);
  const several = copied.map(([{ at }]) => identifiersOfSeveral(at));
  return {
    kind: 'new',
    findings: [...several, ...(likely.length === 0 ? [] : [possibleDuplicate(leading.at)])],
    duplicates: [...new Set([...likely, ...copied.flatMap(([, owners]) => owners)])],
    foreign: new Set(foreign.keys()),
    moved,
    proposed: [],
  };
}

/** Identifying identifiers, without the leading one, that only other patients have. */
function foreignIdentifiers(
  patient: string | undefined,
  leading: SentIdentifier,
  request: ResolveRequest,
): Map<SentIdentifier, readonly string[]> {
  const found = request.identifiers.flatMap((identifier): [SentIdentifier, readonly string[]][] => {
    if (!identifier.identifies || identifier === leading) return [];
    const owners = survivors(holdersOf(identifier, request), request);
    return owners.length === 0 || (patient !== undefined && owners.includes(patient)) ? [] : [[identifier, owners]];
  });
  return new Map(found);
}

/** Compares the person; undefined if it fits. People are renamed: a person who only may be another one is never rejected. */
function differenceFrom(chart: string, leading: SentIdentifier, request: ResolveRequest): AckError | undefined {
  const { check, isAdmission } = request;
  const found = fitOf(chart, request);
  if (found === 'fits') return undefined;
  const isRefused = found === 'contradicts' && (check === 'refuse' || (check === 'refuse-results' && !isAdmission));
  const message =
    found === 'contradicts'
      ? 'Name, birth date or sex contradict the patient with this identifier.'
      : 'Two of family name, given name, birth date and sex differ from the patient with this identifier.';
  return finding(isRefused ? 'E' : 'W', leading.at, message, 'patient-differs');
}

export const holdersOf = (
  { value, authority, identifies }: SentIdentifier,
  { stored }: Pick<ResolveRequest, 'stored'>,
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
  { stored, namedUris, rejected }: Pick<ResolveRequest, 'stored' | 'namedUris' | 'rejected'>,
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
function aliasOf(one: string, other: string): Taught | undefined {
  const [bare, uri] = isBareName(one) ? [one, other] : [other, one];
  const namespace = nameOfDomain(bare);
  return namespace === undefined || isBareName(uri) ? undefined : { namespace, uri };
}

export const survivorOf = (patient: string, { patients }: Pick<ResolveRequest, 'patients'>): string =>
  patients.get(patient)?.survivor ?? patient;

const survivors = (identifiers: readonly StoredIdentifier[], request: ResolveRequest): readonly string[] => [
  ...new Set(identifiers.map(({ patient }) => survivorOf(patient, request))),
];

export function agrees(
  chart: string,
  { patients, person, placeholderDates }: Pick<ResolveRequest, 'patients' | 'person' | 'placeholderDates'>,
  givenNames: GivenNames = 'full',
): boolean {
  const of = patients.get(chart);
  return of !== undefined && agree(person, of.person, placeholderDates, givenNames);
}

function fitOf(chart: string, { patients, person, placeholderDates }: ResolveRequest): ReturnType<typeof fit> {
  const of = patients.get(chart);
  return of === undefined ? 'fits' : fit(person, of.person, placeholderDates);
}

const contradicts = (chart: string, request: ResolveRequest): boolean => fitOf(chart, request) === 'contradicts';

const identifiersOfSeveral = (at: string): AckError =>
  finding('W', at, 'This identifier belongs to another patient. It was not copied.', 'identifiers-of-several');

const possibleDuplicate = (at: string): AckError =>
  finding('W', at, 'Another patient is a possible duplicate. A new patient was created.', 'possible-duplicate');

function refusedAsAmbiguous({ at, type }: SentIdentifier, duplicates: readonly string[]): Resolution {
  // The type code is not patient data, and shows the sender which identifier is ambiguous.
  const identifier = /^[A-Z]{1,5}$/.test(type) ? `The identifier of type ${type}` : 'The identifier';
  const message = `${identifier} in PID-3 matches several patients, and the name and birth date do not single one out. Send an identifier with its assigning authority.`;
  return { kind: 'refused', findings: [finding('E', at, message, 'ambiguous-patient')], duplicates };
}
