/** The hours and days in which a feed is watched, by the clock of the site. Pure. */
import { offsetInZone } from '../../shared/hl7/zone.ts';

export const DAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'] as const;

export interface Hours {
  /** `08:00-18:00`; `22:00-06:00` ends on the next day. Null: all day. */
  readonly hours: string | null;
  /** Some of DAYS, each the day on which the hours begin; none: every day. */
  readonly days: readonly string[];
  /** IANA name; null: UTC. */
  readonly zone: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Checks are a minute apart: a silence as long as the watched hours must be noticed before they end. */
const SLACK_MINUTES = 3;

const minutesOf = (time = ''): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
};

/** Minutes from midnight to the beginning and to the end; the end may be on the next day. */
function span(hours: string | null): readonly [from: number, to: number] {
  if (hours === null) return [0, DAY_MINUTES];
  const [begins, ends] = hours.split('-').map(minutesOf);
  const [from, to] = [begins ?? 0, ends ?? DAY_MINUTES];
  return to > from ? [from, to] : [from, to + DAY_MINUTES];
}

/** The instant at which the wall clock of the zone shows a time. @param day midnight in milliseconds, as if in UTC */
function instantOf(day: number, minutes: number, zone: string | null): number {
  const wall = new Date(day + minutes * MINUTE_MS);
  if (zone === null) return wall.getTime();
  const time = {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: 0,
  };
  const [, sign, hour = 0, minute = 0] = /([+-])(\d{2}):(\d{2})/.exec(offsetInZone(time, zone)) ?? [];
  return wall.getTime() - (sign === '-' ? -1 : 1) * (Number(hour) * 60 + Number(minute)) * MINUTE_MS;
}

/** How long a feed must be silent, in milliseconds; with hours or days never longer than the hours of one day. */
export function patienceMs(afterMinutes: number, { hours, days }: Hours): number {
  const [from, to] = span(hours);
  const isBounded = hours !== null || days.length > 0;
  return (isBounded ? Math.min(afterMinutes, to - from - SLACK_MINUTES) : afterMinutes) * MINUTE_MS;
}

/** True if every minute between two instants is watched. */
export function isWatched(fromMs: number, toMs: number, { hours, days, zone }: Hours): boolean {
  const [begins, ends] = span(hours);
  let reached = fromMs;
  const lastDay = Math.floor(toMs / DAY_MS) * DAY_MS + DAY_MS;
  for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS - 2 * DAY_MS; day <= lastDay; day += DAY_MS) {
    if (days.length > 0 && !days.includes(DAYS[(new Date(day).getUTCDay() + 6) % 7] ?? '')) continue;
    if (instantOf(day, begins, zone) <= reached) reached = Math.max(reached, instantOf(day, ends, zone));
    if (reached >= toMs) return true;
  }
  return false;
}
