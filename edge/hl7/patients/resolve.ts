/**
 * Resolves the patient of a message from its identifiers and its person: a stored patient, a new one, or a rejection. Every
 * stored patient with one of the identifiers is a parameter. No ordinary message puts two persons into one record, or splits
 * one person whose records agree (edge/docs/behaviour.md, HL7 v2, Which patient). Pure.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Taught } from '../mapping/assigning-authority.ts';
import {
  aliasOf,
  everyHolder,
  heldUncertainly,
  holdersOf,
  sameValueElsewhere,
  survivorOf,
  survivors,
  uncertainHolders,
  type SentIdentifier,
  type StoredIdentifier,
} from './identifier-holders.ts';
import { foreignIdentifiers } from './foreign-identifiers.ts';
import { ownIdentifiers, ownIdentifying } from './own-identifiers.ts';
import { hasNameOf, isNewborn, isNewbornWithNumberOf, isRepetition } from './person.ts';
import { agrees, contradicts, finding, fitOf, isAbout, isDescribed, type ResolveRequest } from './resolve-request.ts';

/** An identifier of a patient that now leads to another one. */
export interface MovedIdentifier {
  readonly patient: string;
  readonly authority: string;
  readonly value: string;
  /** It also led to the patient before; else it was only listed with it. */
  readonly led: boolean;
}

/** A stored identifier of a patient that was only listed until now. */
export interface Promoted {
  readonly patient: string;
  readonly authority: string;
  readonly value: string;
}

interface Judged {
  readonly findings: readonly AckError[];
  /** The identifier that led to the patient; undefined if none identifies. */
  readonly leading: SentIdentifier | undefined;
  /** A taught alias does not apply to the leading identifier: it is stored with the authority as it was sent. */
  readonly isAliasRefused: boolean;
  /** The person contradicts the stored one. */
  readonly isContradicted: boolean;
  /** Possible duplicates. */
  readonly duplicates: readonly string[];
  /** Identifiers of other patients: they are not copied. */
  readonly foreign: ReadonlySet<SentIdentifier>;
  /** Values of those among them that are of other newborns, if the person is a newborn. */
  readonly beside: readonly string[];
  readonly moved: readonly MovedIdentifier[];
  /** An identifier of a newborn's record that leads from now on, because the mother takes the leading identifier. */
  readonly promoted: Promoted | undefined;
  /** Records that only results and documents made, of the same person. */
  readonly absorbed: readonly string[];
  /** URIs that a namespace may stand for, for the administrator to decide. */
  readonly proposed: readonly Taught[];
}

export type Resolution =
  | ({
      readonly kind: 'known';
      /** The patient that clinical content belongs to. */
      readonly patient: string;
      /**
       * The merged patient that has the identifier: the personal data belongs there. It equals `patient` if a result
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

/** Resolves the patient of a PID. A result creates an unknown patient with the personal data that it has. */
export function resolve(request: ResolveRequest): Resolution {
  const { identifiers } = request;
  const identifying = ownIdentifying(request);
  if (identifying.length === 0) return byOtherIdentifiers(request);
  const [leading, ...rivals] = ownIdentifiers(identifying, request);
  if (leading === undefined) throw new TypeError('a person has an identifier');
  if (rivals.length > 0) {
    const holders = [leading, ...rivals].flatMap((identifier) => holdersOf(identifier, request));
    return refusedAsAmbiguous(leading, survivors(holders, request));
  }

  const holders = leading.authority.isContested === true ? [] : holdersOf(leading, request);
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
    .map(({ patient, authority, value, led }) => ({ patient, authority, value, led }));
  const [byListed] = agreeing;
  if (byListed !== undefined) return found(byListed, leading, holders, request, { moved });

  const uncertain = heldUncertainly(leading, request);
  const [matching, ...others] = survivors(uncertain, request).filter((id) => matches(id, leading, request));
  if (matching !== undefined && others.length === 0) return found(matching, leading, uncertain, request, { moved });

  // A later identifier finds the patient only if the person agrees.
  const through = identifiers
    .filter((identifier) => identifier.identifies && identifier !== leading)
    .flatMap((identifier) => holdersOf(identifier, request));
  const later = survivors(through, request).filter((id) => agrees(id, request));
  const best = later.find((id) => isDescribed(id, request)) ?? later[0];
  if (best !== undefined) return found(best, leading, through, request, { moved });

  const elsewhere = identifying.flatMap((identifier) => sameValueElsewhere(identifier, request));
  const likely = survivors([...uncertain, ...elsewhere.map(({ stored }) => stored)], request);
  const [only, ...more] = likely;
  const isByLeading = elsewhere.some(
    ({ sent, stored }) => sent === leading && survivorOf(stored.patient, request) === only,
  );
  const givenNames = isByLeading && uncertain.length === 0 ? 'short' : 'full';
  if (moved.length === 0 && only !== undefined && more.length === 0 && agrees(only, request, givenNames)) {
    const warning = finding('W', leading.at, ERROR_REASONS['authority-assumed'], 'authority-assumed');
    const proposed = elsewhere.flatMap(({ sent, stored }) =>
      sent.authority.isAssumed || stored.isAssumed ? [] : (aliasOf(sent.authority.id, stored.authority) ?? []),
    );
    return found(only, leading, [], request, { findings: [warning], proposed });
  }
  return unknown(leading, [...likely, ...moved.map(({ patient }) => patient)], request, { moved });
}

/** The test for a patient that an uncertain authority finds: an ADT must agree, a result may lack the birth date. */
function matches(id: string, { authority }: SentIdentifier, request: ResolveRequest): boolean {
  if (!request.isAdmission) return isAbout(id, request);
  if (agrees(id, request)) return true;
  // A contested namespace may have patients without a birth date: a repeated message must not create them again.
  const stored = request.patients.get(id)?.person;
  return (
    authority.isContested === true &&
    stored !== undefined &&
    isRepetition(request.person, stored, request.placeholderDates)
  );
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
  const refusal = finding('E', first?.at ?? 'PID^1^3', ERROR_REASONS['no-identifying-number'], 'no-identifying-number');
  return { kind: 'refused', findings: [refusal], duplicates: [] };
}

const PLAIN: Judged = {
  findings: [],
  leading: undefined,
  isAliasRefused: false,
  isContradicted: false,
  duplicates: [],
  foreign: new Set(),
  beside: [],
  moved: [],
  promoted: undefined,
  absorbed: [],
  proposed: [],
};

/** Resolves the patients that the leading identifier finds. FHIR clients may give one identifier to several. */
function byLeadingIdentifier(leading: SentIdentifier, all: readonly string[], request: ResolveRequest): Resolution {
  const holders = holdersOf(leading, request);
  const { taught = [] } = leading.authority;
  // A patient with the authority as it was sent has precedence over those that an alias finds.
  const exact = survivors(
    holders.filter(({ led, authority }) => led && !taught.includes(authority)),
    request,
  );
  const led = exact.length > 0 ? exact : all;
  const duplicates = all.filter((id) => !led.includes(id));
  const [only, ...more] = led;
  if (only !== undefined && more.length === 0)
    return byOwner(only, leading, holders, request) ?? found(only, leading, holders, request, { duplicates });
  const agreeing = led.filter((id) => agrees(id, request));
  const [one, ...several] = agreeing;
  if (one === undefined || several.length > 0) return refusedAsAmbiguous(leading, led);
  const warning = finding('W', leading.at, ERROR_REASONS['number-of-several'], 'number-of-several');
  return found(one, leading, holders, request, {
    findings: [warning],
    duplicates: [...duplicates, ...led.filter((id) => id !== one)],
  });
}

/** The cases in which the patient with the leading identifier is not the person of the message; undefined if none applies. */
function byOwner(
  owner: string,
  leading: SentIdentifier,
  holders: readonly StoredIdentifier[],
  request: ResolveRequest,
): Resolution | undefined {
  const { isAdmission, check } = request;
  const { id, taught = [], isAssumed } = leading.authority;
  if (!contradicts(owner, request)) return undefined;
  // Equal values, but one side only assumes the authority.
  if (holders.some((holder) => holder.isAssumed !== isAssumed)) return unknown(leading, [owner], request, {});
  if (!isAdmission || check === 'refuse') return undefined;
  if (
    !isDescribed(owner, request) ||
    oldRecordOf(owner, holders, request) !== undefined ||
    isOfNewborn(owner, request)
  ) {
    const reassigned = [...new Set([owner, ...holders.map(({ patient }) => patient)])].flatMap((patient) =>
      leading.authority.ids.map((authority) => ({ patient, authority, value: leading.value, led: true })),
    );
    const findings = [finding('W', leading.at, ERROR_REASONS['number-reassigned'], 'number-reassigned')];
    const isMother = isOfNewborn(owner, request) && request.person.sex !== 'male';
    const promoted = isMother ? ownOfNewborn(owner, leading, request) : undefined;
    return unknown(leading, [], request, { moved: reassigned, promoted, findings, duplicates: [owner] });
  }
  if (taught.includes(id) || holders.every(({ authority }) => taught.includes(authority)))
    return unknown(leading, [owner], request, { isAliasRefused: true });
  return undefined;
}

/** Checks for a newborn with another name than the person: the newborn's message began with the identifier of the mother. */
function isOfNewborn(owner: string, { patients, person, today }: ResolveRequest): boolean {
  const stored = patients.get(owner)?.person;
  return stored !== undefined && isNewborn(stored, today) && !isNewborn(person, today) && !hasNameOf(person, stored);
}

/**
 * The newborn's own identifier: the only other one of the record with the authority. Undefined if several are, or if the message
 * has it too: then it is the mother's.
 */
function ownOfNewborn(
  patient: string,
  { value, authority }: SentIdentifier,
  { patients, identifiers }: ResolveRequest,
): Promoted | undefined {
  const all = patients.get(patient)?.identifiers ?? [];
  const [only, ...more] = all.filter((other) => other.value !== value && authority.ids.includes(other.authority));
  if (only === undefined || more.length > 0 || identifiers.some((sent) => sent.value === only.value)) return undefined;
  return { patient, authority: only.authority, value: only.value };
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
  const also = alsoAgreeing(patient, request);
  const [described, ...several] = also.filter((id) => isDescribed(id, request));
  const isJoined = request.isAdmission && agrees(patient, request);
  // Results were first with this identifier, and the person has a record with another identifier.
  if (isJoined && !isDescribed(patient, request) && described !== undefined && several.length === 0) {
    const holders = ownHolders(request);
    return found(described, leading, [...through, ...holders], request, extra);
  }
  const oldRecord = oldRecordOf(patient, through, request);
  const fitting = fitOf(patient, request);
  const differs = differenceFrom(patient, leading, request);
  if (differs?.severity === 'E') return { kind: 'refused', findings: [...findings, differs], duplicates: [] };
  const absorbed = isJoined ? also.filter((id) => !isDescribed(id, request)) : [];
  const {
    foreign,
    beside,
    owners,
    findings: foreignFindings,
  } = foreignIdentifiers(patient, leading, absorbed, request);
  return {
    kind: 'known',
    leading,
    isAliasRefused: isHeldByOther(patient, leading, request),
    isContradicted: fitting === 'contradicts',
    patient: oldRecord !== undefined && fitting === 'contradicts' ? oldRecord : patient,
    oldRecord,
    findings: [...findings, ...foreignFindings, ...(differs === undefined ? [] : [differs])],
    duplicates: [
      ...new Set([
        ...[...duplicates, ...also, ...maybeHeldBy(patient, request)].filter((id) => !absorbed.includes(id)),
        ...owners,
        ...moved.map((identifier) => identifier.patient),
      ]),
    ],
    foreign,
    beside,
    moved,
    promoted: undefined,
    absorbed,
    proposed,
  };
}

/** Other patients that agree and have an identifying identifier of PID-3, with certain or uncertain authority. */
const alsoAgreeing = (patient: string, request: ResolveRequest): readonly string[] =>
  survivors(ownHolders(request), request).filter(
    (id) => id !== patient && agrees(id, request) && !wereSeparated(id, patient, request),
  );

/** Other patients that have one of the identifiers if an uncertain authority is the same, and that may be the person. */
const maybeHeldBy = (patient: string, request: ResolveRequest): readonly string[] =>
  survivors(
    ownIdentifying(request).flatMap((identifier) => uncertainHolders(identifier, request)),
    request,
  ).filter((id) => id !== patient && isAbout(id, request) && !wereSeparated(id, patient, request));

const ownHolders = (request: ResolveRequest): readonly StoredIdentifier[] =>
  ownIdentifying(request).flatMap((identifier) => everyHolder(identifier, request));

/** An administrator has undone their merge: no message without MRG merges them again. */
const wereSeparated = (a: string, b: string, { patients }: ResolveRequest): boolean =>
  patients.get(a)?.mergedWith.includes(b) === true || patients.get(b)?.mergedWith.includes(a) === true;

/** Checks whether another patient has the identifier with the URI that a taught alias gives it. */
function isHeldByOther(patient: string, leading: SentIdentifier, request: ResolveRequest): boolean {
  const { id, taught = [] } = leading.authority;
  const holders = taught.includes(id) ? holdersOf(leading, request) : [];
  return holders.some((holder) => holder.authority === id && survivorOf(holder.patient, request) !== patient);
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
  request: ResolveRequest,
  extra: Partial<Judged>,
): Resolution {
  const { findings = [], moved = [], promoted, duplicates = [], isAliasRefused = false } = extra;
  const { foreign, beside, owners, findings: several } = foreignIdentifiers(undefined, leading, [], request);
  return {
    kind: 'new',
    leading,
    isContradicted: false,
    isAliasRefused,
    findings: [...findings, ...several, ...(likely.length === 0 ? [] : [possibleDuplicate(leading.at)])],
    duplicates: [...new Set([...likely, ...duplicates, ...owners])],
    foreign,
    beside,
    moved,
    promoted,
    absorbed: [],
    proposed: [],
  };
}

/**
 * Compares the person; undefined if it fits. People are renamed: a person who only may be another one is never rejected. An ADT
 * corrects names and dates, but a newborn does not become the mother.
 */
function differenceFrom(patient: string, leading: SentIdentifier, request: ResolveRequest): AckError | undefined {
  const { check, isAdmission, patients, person, today } = request;
  const found = fitOf(patient, request);
  if (found === 'fits') return undefined;
  const stored = patients.get(patient)?.person;
  const isCorrection = isAdmission && (stored === undefined || !isNewbornWithNumberOf(person, stored, today));
  const isRefused = found === 'contradicts' && (check === 'refuse' || (check === 'refuse-results' && !isCorrection));
  const message =
    found === 'contradicts'
      ? 'Name, birth date or sex contradict the patient with this identifier.'
      : 'Name, birth date or sex differ from the patient with this identifier.';
  return finding(isRefused ? 'E' : 'W', leading.at, message, 'patient-differs');
}

const possibleDuplicate = (at: string): AckError =>
  finding('W', at, 'Another patient is a possible duplicate. A new patient was created.', 'possible-duplicate');

function refusedAsAmbiguous({ at, type }: SentIdentifier, duplicates: readonly string[]): Resolution {
  // The type code is not patient data, and shows the sender which identifier is ambiguous.
  const identifier = /^[A-Z]{1,5}$/.test(type) ? `The identifier of type ${type}` : 'The identifier';
  const message = `${identifier} in PID-3 matches several patients, and the name and birth date do not single one out. Send an identifier with its assigning authority.`;
  return { kind: 'refused', findings: [finding('E', at, message, 'ambiguous-patient')], duplicates };
}
