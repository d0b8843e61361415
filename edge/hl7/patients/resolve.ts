/**
 * Which chart a message is about: from the numbers it names and the person it describes to one patient, a new one, or a
 * refusal. Pure: every chart that has one of the numbers is passed in. The rule behind each branch is that an ordinary
 * message never puts two people into one chart, and never splits one person where it can be told (edge/docs/behaviour.md, HL7 v2).
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import { isBareName, nameOfDomain } from '../../store/patient-identity.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import { aliasKey, type Domain, type Taught } from '../mapping/assigning-authority.ts';
import { agree, fit, type StoredPerson, type GivenNames, type Person } from './person.ts';

/** A number of PID-3 or MRG-1. */
export interface SentIdentifier {
  readonly value: string;
  readonly domain: Domain;
  /** By its type; see `numbers.ts`. */
  readonly identifies: boolean;
  /** Code of table 0203; `''` without one. */
  readonly type: string;
  /** Of PID-2 or PID-4: it may lead to a patient that agrees, and says nothing else. */
  readonly isAlternate?: boolean;
  /** Where it stands, for ERR-2. */
  readonly at: string;
}

/** A number that a chart has. */
export interface StoredIdentifier {
  readonly patient: string;
  readonly domain: string;
  readonly value: string;
  readonly identifies: boolean;
  /** It was the leading number of a PID-3, or a FHIR client wrote it; else a message only listed it. */
  readonly led: boolean;
  readonly isAssumed: boolean;
}

export interface StoredPatient {
  readonly id: string;
  /** The chart it was merged into, at the end of the chain; its own id when it was not. */
  readonly survivor: string;
  readonly person: StoredPerson;
}

export interface ResolveRequest {
  /** In the order of the field, placeholders left out. */
  readonly identifiers: readonly SentIdentifier[];
  readonly person: Person;
  readonly stored: readonly StoredIdentifier[];
  readonly patients: ReadonlyMap<string, StoredPatient>;
  /** An admission describes a patient; a result or a document is about one. */
  readonly isAdmission: boolean;
  /** What is done with a message that contradicts the chart: `hl7IdentityCheck` of the key. */
  readonly check: KeyRecord['hl7_identity_check'];
  /** The site's birth dates that mean nothing. */
  readonly placeholderDates: ReadonlySet<string>;
  /** URIs that a namespace stands for, by the site or by this key. */
  readonly namedUris: ReadonlySet<string>;
  /** What an administrator said a namespace does not stand for (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
}

/** A number that a message only listed before, and that is now the leading one of another patient. */
export interface MovedIdentifier {
  readonly patient: string;
  readonly domain: string;
  readonly value: string;
}

interface Judged {
  readonly findings: readonly AckError[];
  /** Charts that may be of the same person. */
  readonly duplicates: readonly string[];
  /** Numbers that are another patient's: they are not copied. */
  readonly foreign: ReadonlySet<SentIdentifier>;
  readonly moved: readonly MovedIdentifier[];
  /** Namespaces that may stand for a URI, for the administrator to decide. */
  readonly proposed: readonly Taught[];
}

export type Resolution =
  | ({
      readonly kind: 'known';
      /** Where clinical content goes. */
      readonly patient: string;
      /**
       * The number is that of a chart that was merged away: what is said of the person goes there. It is `patient` too
       * where the message cannot be about the survivor: somebody else has got the number.
       */
      readonly oldRecord: string | undefined;
    } & Judged)
  | ({ readonly kind: 'new' } & Judged)
  | {
      readonly kind: 'refused';
      readonly findings: readonly AckError[];
      /** Charts that could not be told apart. */
      readonly duplicates: readonly string[];
    };

const finding = (severity: 'E' | 'W', at: string, message: string, reason: ErrorReason): AckError => ({
  code: '205',
  severity,
  at,
  message,
  reason,
});

/** The patient of a PID. A result creates its patient too: what it says of the person is all that is known. */
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
    .map(({ patient, domain, value }) => ({ patient, domain, value }));
  const [byListed] = agreeing;
  if (byListed !== undefined) return found(byListed, leading, holders, request, { moved });

  // Found through a later repetition: only where the person agrees.
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
    const message = 'the domain of the number is not certain: the patient was told by name and birth date';
    const told = finding('W', leading.at, message, 'domain-assumed');
    const proposed = elsewhere.flatMap(({ sent, stored }) =>
      sent.domain.isAssumed || stored.isAssumed ? [] : (aliasOf(sent.domain.id, stored.domain) ?? []),
    );
    return found(only, leading, [], request, { findings: [told], proposed });
  }
  return unknown(leading, [...likely, ...moved.map(({ patient }) => patient)], moved, request);
}

/** None of the numbers identifies: a chart that has one of them and agrees, else a new one for an admission. */
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
  const message = 'none of the numbers of PID-3 identifies a patient, and none agrees with one that is known';
  const refusal = finding('E', first?.at ?? 'PID^1^3', message, 'no-identifying-number');
  return { kind: 'refused', findings: [refusal], duplicates: [] };
}

const PLAIN: Judged = { findings: [], duplicates: [], foreign: new Set(), moved: [], proposed: [] };

/** Charts that the leading number leads to. FHIR clients may give one number to several. */
function byLeadingIdentifier(leading: SentIdentifier, led: readonly string[], request: ResolveRequest): Resolution {
  const [only, ...more] = led;
  if (only !== undefined && more.length === 0) {
    const isAssumedOnce = holdersOf(leading, request).some(({ isAssumed }) => isAssumed !== leading.domain.isAssumed);
    // The same value, but one side only assumes whose: another person's, where the two contradict.
    if (isAssumedOnce && contradicts(only, request)) return unknown(leading, [only], [], request);
    return found(only, leading, holdersOf(leading, request), request, {});
  }
  const agreeing = led.filter((id) => agrees(id, request));
  const [one, ...several] = agreeing;
  if (one === undefined || several.length > 0) return refusedAsAmbiguous(leading, led);
  const message = 'several patients have this number: the one that agrees in name and birth date was taken';
  const told = finding('W', leading.at, message, 'number-of-several');
  const duplicates = led.filter((id) => id !== one);
  return found(one, leading, holdersOf(leading, request), request, { findings: [told], duplicates });
}

/** The chart is found: does the person fit, and whose are the other numbers? */
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

/** The chart that was merged into the patient and has the number. */
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

/** Identifying numbers of the message, but for the leading one, that only other patients have. */
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

/** The person must fit (a finding), or does (undefined). People are renamed: who only may be somebody else is never refused. */
function differenceFrom(chart: string, leading: SentIdentifier, request: ResolveRequest): AckError | undefined {
  const { check, isAdmission } = request;
  const found = fitOf(chart, request);
  if (found === 'fits') return undefined;
  const isRefused = found === 'contradicts' && (check === 'refuse' || (check === 'refuse-results' && !isAdmission));
  const message =
    found === 'contradicts'
      ? 'the person of the message is not the patient with this number: name, birth date or sex are others'
      : 'two of family name, given name, birth date and sex are not those of the patient with this number';
  return finding(isRefused ? 'E' : 'W', leading.at, message, 'patient-differs');
}

export const holdersOf = (
  { value, domain, identifies }: SentIdentifier,
  { stored }: Pick<ResolveRequest, 'stored'>,
): readonly StoredIdentifier[] =>
  stored.filter(
    (identifier) =>
      identifier.value === value && domain.ids.includes(identifier.domain) && identifier.identifies === identifies,
  );

/** A number of the message and one of a chart: the same value in domains that may be the same, but are not known to be. */
export interface SameValue {
  readonly sent: SentIdentifier;
  readonly stored: StoredIdentifier;
}

export function sameValueElsewhere(
  sent: SentIdentifier,
  { stored, namedUris, rejected }: Pick<ResolveRequest, 'stored' | 'namedUris' | 'rejected'>,
): readonly SameValue[] {
  const { value, domain } = sent;
  const mayBeSame = (identifier: StoredIdentifier): boolean => {
    if (identifier.value !== value || !identifier.identifies || domain.ids.includes(identifier.domain)) return false;
    const alias = aliasOf(domain.id, identifier.domain);
    if (alias !== undefined && rejected.has(aliasKey(alias))) return false;
    if (domain.isAssumed || identifier.isAssumed) return true;
    if (isBareName(domain.id) === isBareName(identifier.domain)) return false;
    const uri = isBareName(domain.id) ? identifier.domain : domain.id;
    return !namedUris.has(uri);
  };
  return stored.filter(mayBeSame).map((identifier) => ({ sent, stored: identifier }));
}

/** What it would mean if the two were one: the namespace of the one stands for the URI of the other. */
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

/** Whether the person of the message agrees with a patient. */
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
  finding('W', at, "this number is another patient's: it was not copied", 'identifiers-of-several');

const possibleDuplicate = (at: string): AckError =>
  finding('W', at, 'another patient may be the same person: a new one was made', 'possible-duplicate');

function refusedAsAmbiguous({ at, type }: SentIdentifier, duplicates: readonly string[]): Resolution {
  // The type is no patient data, and tells the sender which of several is meant.
  const identifier = /^[A-Z]{1,5}$/.test(type) ? `the identifier of type ${type}` : 'the identifier';
  const message = `${identifier} in PID-3 matches more than one patient, and not just one agrees`;
  return { kind: 'refused', findings: [finding('E', at, message, 'ambiguous-patient')], duplicates };
}
