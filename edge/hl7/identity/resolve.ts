/**
 * Which chart a message is about: from the numbers it names and the person it describes to one patient, a new one, or a
 * refusal. Pure: every chart that has one of the numbers is passed in. The rule behind each branch is that an ordinary
 * message never puts two people into one chart, and never splits one person where it can be told (edge/README.md, HL7 v2).
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { isBareName, type Domain } from './domain.ts';
import { agree, contradict, type ChartPerson, type Person } from './person.ts';

/** A number of PID-3 or MRG-1. */
export interface SentNumber {
  readonly value: string;
  readonly domain: Domain;
  /** By its type; see `numbers.ts`. */
  readonly identifies: boolean;
  /** Where it stands, for ERR-2. */
  readonly at: string;
}

/** A number that a chart has. */
export interface KnownNumber {
  readonly patient: string;
  readonly domain: string;
  readonly value: string;
  readonly identifies: boolean;
  /** It was the leading number of a PID-3, or a FHIR client wrote it; else a message only listed it. */
  readonly led: boolean;
  readonly isAssumed: boolean;
}

export interface Chart {
  readonly id: string;
  /** The chart it was merged into, at the end of the chain; its own id when it was not. */
  readonly survivor: string;
  readonly person: ChartPerson;
}

/** What is done with a message that contradicts the chart: `hl7IdentityCheck` of the key. */
export type IdentityCheck = 'warn' | 'refuse-results' | 'refuse';

export interface ResolveRequest {
  /** In the order of the field, placeholders left out. */
  readonly numbers: readonly SentNumber[];
  readonly person: Person;
  readonly known: readonly KnownNumber[];
  readonly charts: ReadonlyMap<string, Chart>;
  /** An admission describes a patient; a result or a document is about one. */
  readonly isAdmission: boolean;
  readonly check: IdentityCheck;
  /** The site's birth dates that mean nothing. */
  readonly placeholderDates: ReadonlySet<string>;
  /** URIs that a namespace stands for, by the site or by this key. */
  readonly namedUris: ReadonlySet<string>;
}

/** A number that a message only listed before, and that is now the leading one of another patient. */
export interface MovedNumber {
  readonly patient: string;
  readonly domain: string;
  readonly value: string;
}

interface Judged {
  readonly findings: readonly AckError[];
  /** Charts that may be of the same person. */
  readonly duplicates: readonly string[];
  /** Numbers that are another patient's: they are not copied. */
  readonly foreign: ReadonlySet<SentNumber>;
  readonly moved: readonly MovedNumber[];
}

export type Resolution =
  | ({
      readonly kind: 'known';
      /** Where clinical content goes. */
      readonly patient: string;
      /** The number is that of a chart that was merged away: what is said of the person goes there. */
      readonly oldChart: string | undefined;
    } & Judged)
  | ({ readonly kind: 'new' } & Judged)
  | { readonly kind: 'refused'; readonly findings: readonly AckError[] };

const finding = (severity: 'E' | 'W', at: string, message: string, reason: string): AckError => ({
  code: '205',
  severity,
  at,
  message,
  reason,
});

/** The patient of a PID. A result creates its patient too: what it says of the person is all that is known. */
export function resolve(request: ResolveRequest): Resolution {
  const { numbers } = request;
  const identifying = numbers.filter(({ identifies }) => identifies);
  const [leading, ...others] = identifying;
  if (leading === undefined) return byOtherNumbers(request);

  const holders = holdersOf(leading, request);
  const led = survivors(
    holders.filter(({ led }) => led),
    request,
  );
  if (led.length > 0) return byLeadingNumber(leading, led, request);

  const listed = survivors(holders, request);
  const agreeing = listed.filter((id) => agrees(id, request));
  if (agreeing.length > 1) return refusedAsAmbiguous(leading);
  const moved = holders
    .filter((number) => !agreeing.includes(survivorOf(number.patient, request)))
    .map(({ patient, domain, value }) => ({ patient, domain, value }));
  const [byListed] = agreeing;
  if (byListed !== undefined) return found(byListed, leading, holders, request, { moved });

  // Found through a later repetition: only where the person agrees.
  const byLater = others
    .flatMap((number) => survivors(holdersOf(number, request), request))
    .filter((id) => agrees(id, request));
  const [later] = byLater;
  if (later !== undefined) {
    const holdersOfOthers = others.flatMap((number) => holdersOf(number, request));
    return found(later, leading, holdersOfOthers, request, { moved });
  }

  const likely = sameValueElsewhere(leading, request);
  const [only, ...more] = likely;
  if (moved.length === 0 && only !== undefined && more.length === 0 && agrees(only, request)) {
    const message = 'the domain of the number is not certain: the patient was told by name and birth date';
    const sure = finding('W', leading.at, message, 'domain-assumed');
    return found(only, leading, [], request, { moved, findings: [sure] });
  }
  return unknown(leading, [...likely, ...moved.map(({ patient }) => patient)], moved, request);
}

/** None of the numbers identifies: a chart that has one of them and agrees, else a new one for an admission. */
function byOtherNumbers(request: ResolveRequest): Resolution {
  const { numbers, isAdmission } = request;
  const candidates = [...new Set(numbers.flatMap((number) => survivors(holdersOf(number, request), request)))];
  const agreeing = candidates.filter((id) => agrees(id, request));
  const [first] = numbers;
  const at = first?.at ?? 'PID^1^3';
  const [only, ...more] = agreeing;
  if (only !== undefined && more.length === 0) {
    return {
      kind: 'known',
      patient: only,
      oldChart: undefined,
      findings: [],
      duplicates: [],
      foreign: NONE,
      moved: [],
    };
  }
  if (isAdmission) {
    const findings = agreeing.length > 1 ? [possibleDuplicate(at)] : [];
    return { kind: 'new', findings, duplicates: agreeing, foreign: NONE, moved: [] };
  }
  const message = 'none of the numbers of PID-3 identifies a patient, and none agrees with one that is known';
  return { kind: 'refused', findings: [finding('E', at, message, 'no-identifying-number')] };
}

const NONE: ReadonlySet<SentNumber> = new Set();

/** Charts that the leading number leads to. FHIR clients may give one number to several. */
function byLeadingNumber(leading: SentNumber, led: readonly string[], request: ResolveRequest): Resolution {
  const [only, ...more] = led;
  if (only !== undefined && more.length === 0) {
    const isGuess = holdersOf(leading, request).some(({ isAssumed }) => isAssumed !== leading.domain.isAssumed);
    // The same value, but one side only assumes whose: another person's, where the two contradict.
    if (isGuess && contradicts(only, request)) return unknown(leading, [only], [], request);
    return found(only, leading, holdersOf(leading, request), request, {});
  }
  const agreeing = led.filter((id) => agrees(id, request));
  const [one, ...several] = agreeing;
  if (one === undefined || several.length > 0) return refusedAsAmbiguous(leading);
  const message = 'several patients have this number: the one that agrees in name and birth date was taken';
  const several1 = finding('W', leading.at, message, 'number-of-several');
  const duplicates = led.filter((id) => id !== one);
  return found(one, leading, holdersOf(leading, request), request, { findings: [several1], duplicates });
}

interface Extra {
  readonly moved?: readonly MovedNumber[];
  readonly findings?: readonly AckError[];
  readonly duplicates?: readonly string[];
}

/** The chart is found: does the person fit, and whose are the other numbers? */
function found(
  patient: string,
  leading: SentNumber,
  through: readonly KnownNumber[],
  request: ResolveRequest,
  extra: Extra,
): Resolution {
  const { findings: before = [], duplicates = [], moved = [] } = extra;
  const direct = through
    .map((number) => number.patient)
    .find((id) => id !== patient && survivorOf(id, request) === patient);
  const fit = fitOf(direct ?? patient, leading, request);
  if (fit?.severity === 'E') return { kind: 'refused', findings: [...before, fit] };
  const foreign = foreignNumbers(patient, request);
  const owners = [...foreign.keys()].flatMap((number) => foreign.get(number) ?? []);
  const several = [...foreign.keys()].map(({ at }) => identifiersOfSeveral(at));
  return {
    kind: 'known',
    patient,
    oldChart: direct,
    findings: [...before, ...several, ...(fit === undefined ? [] : [fit])],
    duplicates: [...new Set([...duplicates, ...owners, ...moved.map((number) => number.patient)])],
    foreign: new Set(foreign.keys()),
    moved,
  };
}

function unknown(
  leading: SentNumber,
  likely: readonly string[],
  moved: readonly MovedNumber[],
  request: ResolveRequest,
): Resolution {
  const foreign = foreignNumbers(undefined, request);
  foreign.delete(leading);
  const owners = [...foreign.values()].flat();
  const several = [...foreign.keys()].map(({ at }) => identifiersOfSeveral(at));
  const duplicates = [...new Set([...likely, ...owners])];
  const findings = [...several, ...(likely.length === 0 ? [] : [possibleDuplicate(leading.at)])];
  return { kind: 'new', findings, duplicates, foreign: new Set(foreign.keys()), moved };
}

/** Identifying numbers of the message that only other patients have. */
function foreignNumbers(patient: string | undefined, request: ResolveRequest): Map<SentNumber, readonly string[]> {
  const found = request.numbers.flatMap((number): [SentNumber, readonly string[]][] => {
    if (!number.identifies) return [];
    const owners = survivors(holdersOf(number, request), request);
    return owners.length === 0 || (patient !== undefined && owners.includes(patient)) ? [] : [[number, owners]];
  });
  return new Map(found);
}

/** The person must fit (a finding), or does (undefined). */
function fitOf(chart: string, leading: SentNumber, request: ResolveRequest): AckError | undefined {
  if (!contradicts(chart, request)) return undefined;
  const { check, isAdmission } = request;
  const isRefused = check === 'refuse' || (check === 'refuse-results' && !isAdmission);
  const message = 'name and birth date of the message are not those of the patient with this number';
  return finding(isRefused ? 'E' : 'W', leading.at, message, 'patient-differs');
}

const holdersOf = ({ value, domain, identifies }: SentNumber, { known }: ResolveRequest): readonly KnownNumber[] =>
  known.filter(
    (number) => number.value === value && domain.ids.includes(number.domain) && number.identifies === identifies,
  );

/** The same value in a domain that may be the same, but is not known to be. */
function sameValueElsewhere({ value, domain }: SentNumber, request: ResolveRequest): readonly string[] {
  const mayBeSame = (number: KnownNumber): boolean => {
    if (number.value !== value || !number.identifies || domain.ids.includes(number.domain)) return false;
    if (domain.isAssumed || number.isAssumed) return true;
    if (isBareName(domain.id) === isBareName(number.domain)) return false;
    const uri = isBareName(domain.id) ? number.domain : domain.id;
    return !request.namedUris.has(uri);
  };
  return survivors(request.known.filter(mayBeSame), request);
}

const survivorOf = (patient: string, { charts }: ResolveRequest): string => charts.get(patient)?.survivor ?? patient;

const survivors = (numbers: readonly KnownNumber[], request: ResolveRequest): readonly string[] => [
  ...new Set(numbers.map(({ patient }) => survivorOf(patient, request))),
];

function agrees(chart: string, { charts, person, placeholderDates }: ResolveRequest): boolean {
  const of = charts.get(chart);
  return of !== undefined && agree(person, of.person, placeholderDates);
}

function contradicts(chart: string, { charts, person, placeholderDates }: ResolveRequest): boolean {
  const of = charts.get(chart);
  return of !== undefined && contradict(person, of.person, placeholderDates);
}

const identifiersOfSeveral = (at: string): AckError =>
  finding('W', at, "this number is another patient's: it was not copied", 'identifiers-of-several');

const possibleDuplicate = (at: string): AckError =>
  finding('W', at, 'another patient may be the same person: a new one was made', 'possible-duplicate');

const refusedAsAmbiguous = ({ at }: SentNumber): Resolution => ({
  kind: 'refused',
  findings: [finding('E', at, 'several patients have this number, and not just one agrees', 'ambiguous-patient')],
});
