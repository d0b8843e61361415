/** The hours in which a feed is watched, by the clock of the site: from when to when, on which days. Pure. */
import { offsetInZone } from '../../shared/hl7/zone.ts';

/** As `Date.getUTCDay` counts. */
export const DAYS = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'] as const;

export interface Hours {
  /** `08:00-18:00`; one that ends before it begins ends on the next day, to which `24:00` belongs too. Null: all day. */
  readonly hours: string | null;
  /** Some of DAYS, each the day on which the hours begin; none: every day. */
  readonly days: readonly string[];
  /** IANA name; null: UTC. */
  readonly zone: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Looked for once a minute: hours that are as long as what is waited for must still be found out. */
const SLACK_MINUTES = 3;

const minutesOf = (time = ''): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
};

/** Minutes from midnight to the beginning and to the end, the latter later than the former. */
function span(hours: string | null): readonly [from: number, to: number] {
  if (hours === null) return [0, DAY_MINUTES];
  const [begins, ends] = hours.split('-').map(minutesOf);
  const [from, to] = [begins ?? 0, ends ?? DAY_MINUTES];
  return to > from ? [from, to] : [from, to + DAY_MINUTES];
}

/** The instant of a wall clock's time, so many minutes after midnight of a day. @param day milliseconds, as if it were UTC */
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

/** How long nothing must have come, in milliseconds: never longer than the hours of a day, where there are hours or days. */
export function patienceMs(afterMinutes: number, { hours, days }: Hours): number {
  const [from, to] = span(hours);
  const isBounded = hours !== null || days.length > 0;
  return (isBounded ? Math.min(afterMinutes, to - from - SLACK_MINUTES) : afterMinutes) * MINUTE_MS;
}

/** Whether all of a stretch of time is watched. Days that touch are one stretch. */
export function isWatched(fromMs: number, toMs: number, { hours, days, zone }: Hours): boolean {
  const [begins, ends] = span(hours);
  let reached = fromMs;
  const lastDay = Math.floor(toMs / DAY_MS) * DAY_MS + DAY_MS;
  for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS - 2 * DAY_MS; day <= lastDay; day += DAY_MS) {
    if (days.length > 0 && !days.includes(DAYS[new Date(day).getUTCDay()] ?? '')) continue;
    if (instantOf(day, begins, zone) <= reached) reached = Math.max(reached, instantOf(day, ends, zone));
    if (reached >= toMs) return true;
  }
  return false;
}
