/** The results of a message with their keys, and the stored results that they may mean by their time. */
import type { MapContext } from '../mapping/context.ts';
import type { Drafts } from '../mapping/drafts.ts';
import type { ResultStatement, Statement } from '../mapping/statement.ts';
import type { MessageClock } from '../precedence/clock.ts';
import { timeMsOf } from '../precedence/precedence.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import type { KeyContext, ResultKey } from './result-key.ts';
import { distanceMs } from './result-state.ts';

export interface FilingRequest {
  readonly drafts: Drafts;
  readonly results: FiledResults;
  readonly context: MapContext;
  readonly keyContext: KeyContext;
  readonly clock: MessageClock;
  readonly newId: () => string;
}

export interface Keyed {
  readonly statement: Statement;
  readonly result: ResultStatement;
  readonly key: ResultKey;
}

/** The results of one key in a message, and the closest stored results. */
export interface Asked {
  readonly group: readonly [Keyed, ...Keyed[]];
  readonly candidates: readonly FiledResult[];
  /** They have the same time. */
  readonly isExact: boolean;
  /** The highest position of a stored result. */
  readonly place: number;
}

/** Order numbers come round every year: without a time of collection a later result is another one. */
const MAX_DISTANCE_MS = 180 * 24 * 60 * 60_000;

/**
 * Checks for a stored result of the same half-year. A correction or withdrawal may be of any, and a time of collection that both
 * have decides alone.
 */
export function isNear(known: FiledResult, keyed: Keyed, clock: MessageClock): boolean {
  if (areTimed(known, keyed) || isOfNewest(keyed)) return true;
  const { key, statement } = keyed;
  const times = [clock.timeOf(statement.timing), ...(key.at === '' ? [] : [Date.parse(key.at)])];
  const collected = known.at === '' ? [] : [Date.parse(known.at)];
  return times.some((ms) => distanceMs(known.draft, collected, ms) <= MAX_DISTANCE_MS);
}

/** The same of two stored results. */
export function areNear(a: FiledResult, b: FiledResult): boolean {
  if (a.at !== '' && b.at !== '') return true;
  const timesOf = ({ at, precedence }: FiledResult): number[] => [
    ...(at === '' ? [] : [Date.parse(at)]),
    ...(precedence === '' ? [] : [timeMsOf(precedence)]),
  ];
  const [times, others] = [timesOf(a), timesOf(b)];
  return times.some((ms) => others.some((other) => Math.abs(ms - other) <= MAX_DISTANCE_MS));
}

/** The candidates of the same half-year; for a correction or withdrawal that of the newest. */
export function withoutOld(
  candidates: readonly FiledResult[],
  keyed: Keyed,
  clock: MessageClock,
): readonly FiledResult[] {
  const near = candidates.filter((known) => isNear(known, keyed, clock));
  if (!isOfNewest(keyed) || near.every((known) => areTimed(known, keyed))) return near;
  const times = near.filter(({ precedence }) => precedence !== '').map(({ precedence }) => timeMsOf(precedence));
  const newest = times.reduce((last, each) => Math.max(last, each), 0);
  return near.filter((known) => distanceMs(known.draft, [], newest) <= MAX_DISTANCE_MS);
}

const areTimed = (known: FiledResult, { key }: Keyed): boolean => known.at !== '' && key.at !== '';

const isOfNewest = ({ statement, result }: Keyed): boolean =>
  result.isCorrection || statement.timing.standing.isWithdrawal;
