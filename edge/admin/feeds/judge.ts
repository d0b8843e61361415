/**
 * Compares a sender with its usual activity at this hour: the same time one to four weeks before. For a newer sender, it is the
 * same time on each of the seven days before. Times are by the site's clock, so silence at night counts only for a sender that
 * usually sends at night. Pure.
 */
import type { FeedRow } from '../../store/admin-feed.ts';

export type Verdict = 'usual' | 'fewer' | 'more' | 'silent' | 'too-new';

/** The lowest and the highest of the earlier counts. */
interface Usual {
  readonly low: number;
  readonly high: number;
}

/** The fewest weeks to compare with. */
const FEWEST_WEEKS = 3;
/** All seven, so that a weekend is among them. */
const FEWEST_DAYS = 7;

/** The numbers of a PostgreSQL array such as `{1,NULL,3}`. */
const known = (literal: string | null): number[] =>
  (literal ?? '{}')
    .slice(1, -1)
    .split(',')
    .filter((part) => part !== '' && part !== 'NULL')
    .map(Number);

/** Undefined if there are too few counts. */
function usualOf(weeks: string | null, days: string | null): Usual | undefined {
  const [byWeek, byDay] = [known(weeks), known(days)];
  const samples = byWeek.length >= FEWEST_WEEKS ? byWeek : byDay.length >= FEWEST_DAYS ? byDay : undefined;
  return samples && { low: Math.min(...samples), high: Math.max(...samples) };
}

/** A sender of fewer messages may send none by chance. */
const MISSED = 5;
/** Half of a smaller count may be chance. */
const MANY = 10;

type Judged = Pick<FeedRow, 'hour' | 'weeks_hour' | 'days_hour' | 'weeks_gap' | 'days_gap'>;

/** @param isAlerted true if an alert for silence is open; undefined if the key has no rule for silence */
export function judge(row: Judged, isAlerted?: boolean): Verdict {
  if (isAlerted === true) return 'silent';
  const gap = usualOf(row.weeks_gap, row.days_gap);
  // The key's rule for silence counts more than its usual activity.
  if (isAlerted === undefined && gap !== undefined && gap.low >= MISSED) return 'silent';
  const usual = usualOf(row.weeks_hour, row.days_hour);
  if (usual === undefined) return 'too-new';
  if (row.hour < usual.low / 2 && usual.low >= MANY) return 'fewer';
  return row.hour > 2 * usual.high && row.hour >= usual.high + 2 * MANY ? 'more' : 'usual';
}
