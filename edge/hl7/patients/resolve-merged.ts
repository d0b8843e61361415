/**
 * Whom a merge takes away: the numbers of MRG, resolved as those of PID-3 are, except that MRG describes nobody but by a
 * name (HL7 v2.5.1 §3.4.9). A merge that cannot be done is refused: the sender would take it for done.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { PersonName } from '../../store/patient-identity.ts';
import { agree, fit, isOtherName } from './person.ts';
import { agrees, holdersOf, sameValueElsewhere, survivorOf, type ResolveRequest, type SentNumber } from './resolve.ts';

export interface LoserRequest extends Pick<
  ResolveRequest,
  'known' | 'charts' | 'namedUris' | 'rejected' | 'placeholderDates' | 'person'
> {
  /** Of MRG-1 (and MRG-4), in their order. */
  readonly numbers: readonly SentNumber[];
  /** MRG-7. */
  readonly names: readonly PersonName[];
  /** The chart of PID. */
  readonly survivor: string;
  /** MRG, for ERR-2. */
  readonly at: string;
}

export type Losers =
  | {
      readonly kind: 'refused';
      readonly findings: readonly AckError[];
      /** Charts that one of the numbers may mean. */
      readonly candidates: readonly string[];
    }
  | {
      readonly kind: 'told';
      /** Charts to be merged; none where every number is the survivor's, or nobody's. */
      readonly losers: readonly string[];
      /** A number that no chart has. */
      readonly isUnknown: boolean;
      readonly findings: readonly AckError[];
      /** Charts that may be of the same person, and were left. */
      readonly left: readonly string[];
    };

type Meant =
  /** The survivor's own number, or that of a record that has been merged into it. */
  | { readonly kind: 'survivor' | 'merged' }
  | { readonly kind: 'chart'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unclear'; readonly candidates: readonly string[] }
  /** The chart was merged into another than the survivor. */
  | { readonly kind: 'elsewhere'; readonly id: string };

export function resolveLosers(request: LoserRequest): Losers {
  const { numbers, at } = request;
  const identifying = numbers.filter(({ identifies }) => identifies);
  const meant = (identifying.length > 0 ? identifying : numbers).map((number) => meantBy(number, request));
  const told = meant.filter(({ kind }) => kind !== 'survivor' && kind !== 'merged' && kind !== 'unknown');
  const first = told[0]?.kind === 'chart' ? likeliest(told, request) : told[0];
  const more = told.filter((each) => each !== first);
  const isUnknown = meant.some(({ kind }) => kind === 'unknown');
  if (first === undefined) return { kind: 'told', losers: [], isUnknown, findings: [], left: [] };
  if (first.kind === 'elsewhere') {
    const message = 'the patient of MRG-1 has been merged into another patient than that of PID-3';
    return { kind: 'refused', findings: [finding('E', '204', at, message, 'merged-elsewhere')], candidates: [] };
  }
  if (first.kind !== 'chart') return unresolved(at, first.kind === 'unclear' ? first.candidates : []);

  // When the message comes again the first has been merged: the others must still agree with it.
  const main = meant.some(({ kind }) => kind === 'merged') ? request.survivor : first.id;
  const ids = unique([first, ...more].flatMap((each) => (each.kind === 'chart' ? [each.id] : [])));
  const unclear = more.flatMap((each) => (each.kind === 'unclear' ? each.candidates : []));
  const losers = ids.filter((id) => id === main || isSamePerson(main, id, request));
  const left = [...ids.filter((id) => !losers.includes(id)), ...unclear];
  const message = 'MRG-1 has numbers of several patients who are not told to be one: only the first was merged';
  const findings = left.length === 0 ? [] : [finding('W', '205', at, message, 'merge-of-several')];
  if (losers.some((id) => isOther(id, request))) {
    const who = 'the patient of MRG-1 is another person than PID, or MRG-7, says: merged all the same';
    findings.push(finding('W', '205', at, who, 'patient-differs'));
  }
  return { kind: 'told', losers, isUnknown, findings, left };
}

/** A newborn's MRG may list the mother: the patient who agrees with PID, else one who does not contradict, else the first. */
function likeliest(told: readonly Meant[], request: LoserRequest): Meant | undefined {
  const find = (isLikely: (id: string) => boolean): Meant | undefined =>
    told.find((each) => each.kind === 'chart' && isLikely(each.id));
  return find((id) => agrees(id, request)) ?? find((id) => !isOther(id, request)) ?? told[0];
}

/** Who says that two charts are one has the last word, but may have mistaken the number. */
function isOther(id: string, { charts, person, names, placeholderDates }: LoserRequest): boolean {
  const chart = charts.get(id)?.person;
  if (chart === undefined) return false;
  const isNamedOtherwise = names.length > 0 && names.every((name) => isOtherName(name, chart));
  return isNamedOtherwise || fit(person, chart, placeholderDates) === 'contradicts';
}

function meantBy(number: SentNumber, request: LoserRequest): Meant {
  const { survivor, charts, names } = request;
  const endOf = (id: string): string => survivorOf(id, request);
  const holders = holdersOf(number, request);
  if (holders.some(({ patient }) => endOf(patient) === survivor)) {
    // FHIR clients may give one number to several: another record of the same person is meant beside the survivor.
    const others = unique(holders.filter(({ led }) => led).map(({ patient }) => endOf(patient)));
    const [other, ...more] = others.filter((id) => id !== survivor && agrees(id, request));
    return other !== undefined && more.length === 0
      ? { kind: 'chart', id: other }
      : { kind: holders.some(({ patient }) => patient === survivor) ? 'survivor' : 'merged' };
  }
  const isSomebodyElse = (id: string): boolean => {
    const chart = charts.get(id);
    return chart !== undefined && names.length > 0 && names.every((name) => isOtherName(name, chart.person));
  };

  const led = unique(holders.filter((holder) => holder.led).map(({ patient }) => patient));
  const meant = led.length < 2 ? led : led.filter((id) => !isSomebodyElse(id));
  const [only, ...more] = unique(meant.map(endOf));
  if (more.length > 0 || (only === undefined && led.length > 0))
    return { kind: 'unclear', candidates: unique(led.map(endOf)) };
  if (only !== undefined) return meant.includes(only) ? { kind: 'chart', id: only } : { kind: 'elsewhere', id: only };

  // Only listed with a patient: as for PID-3 the person must agree, who is the survivor's by what the sender says.
  const listed = unique(holders.map(({ patient }) => endOf(patient))).filter((id) => !isSomebodyElse(id));
  const agreeing = listed.filter((id) => agrees(id, request));
  const [told, ...several] = agreeing;
  if (told !== undefined && several.length === 0) return { kind: 'chart', id: told };

  const elsewhere = sameValueElsewhere(number, request).map(({ known }) => endOf(known.patient));
  const candidates = unique([...listed, ...elsewhere]).filter((id) => id !== survivor && !isSomebodyElse(id));
  return candidates.length === 0 ? { kind: 'unknown' } : { kind: 'unclear', candidates };
}

export function isSamePerson(
  a: string,
  b: string,
  { charts, placeholderDates }: Pick<LoserRequest, 'charts' | 'placeholderDates'>,
): boolean {
  const [one, other] = [charts.get(a), charts.get(b)];
  return one !== undefined && other !== undefined && agree(one.person, other.person, placeholderDates);
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];

function unresolved(at: string, candidates: readonly string[]): Losers {
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
