/**
 * Whether a sender does what it usually does at this hour: compared with the same time one to four weeks before or, for who
 * has not been known for so long, with the same time on each of the seven days before, on the site's clocks. So a sender
 * that never sends at night or on Sundays is not missed then, and one that always does is. Pure.
 */
import type { FeedRow } from '../../store/admin-feed.ts';

export type Verdict = 'usual' | 'fewer' | 'more' | 'silent' | 'too-new';

/** The lowest and the highest of what was counted before. */
interface Usual {
  readonly low: number;
  readonly high: number;
}

/** Fewer are no habit. */
const FEWEST_WEEKS = 3;
/** Of seven, so that a weekend is among them: what is so on each of them is so on any. */
const FEWEST_DAYS = 7;

/** `{1,NULL,3}` as PostgreSQL prints an array, without what is not known. */
const known = (literal: string | null): number[] =>
  (literal ?? '{}')
    .slice(1, -1)
    .split(',')
    .filter((part) => part !== '' && part !== 'NULL')
    .map(Number);

/** Undefined where too little is known. */
function usualOf(weeks: string | null, days: string | null): Usual | undefined {
  const [byWeek, byDay] = [known(weeks), known(days)];
  const samples = byWeek.length >= FEWEST_WEEKS ? byWeek : byDay.length >= FEWEST_DAYS ? byDay : undefined;
  return samples && { low: Math.min(...samples), high: Math.max(...samples) };
}

/** Whoever sends less in that time may well send nothing for once. */
const MISSED = 5;
/** Half of fewer is chance. */
const MANY = 10;

type Judged = Pick<FeedRow, 'hour' | 'weeks_hour' | 'days_hour' | 'weeks_gap' | 'days_gap'>;

/** @param isAlerted its key has a rule for silence, and an alert is open by it; undefined where it has none */
export function judge(row: Judged, isAlerted?: boolean): Verdict {
  if (isAlerted === true) return 'silent';
  const gap = usualOf(row.weeks_gap, row.days_gap);
  // What its people have said of silence counts, not what we make of it.
  if (isAlerted === undefined && gap !== undefined && gap.low >= MISSED) return 'silent';
  const usual = usualOf(row.weeks_hour, row.days_hour);
  if (usual === undefined) return 'too-new';
  if (row.hour < usual.low / 2 && usual.low >= MANY) return 'fewer';
  return row.hour > 2 * usual.high && row.hour >= usual.high + 2 * MANY ? 'more' : 'usual';
}
