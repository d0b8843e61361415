/**
 * The collection time in a result key (OBX-14, else OBR-7: HL7 v2.5.1 §7.4.2.14). It is a minute in UTC (`2026-01-02T03:04Z`),
 * a day (`2026-01-02`) without a time of day, or `''`.
 */
import { Fault } from '../../../shared/fault.ts';
import { fhirDateTime, readTimestamp, type ZoneFallback } from '../../../shared/hl7/time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The largest offset of a time zone (FHIR R4, dateTime). */
const MAX_OFFSET_HOURS = 14;
/** The largest change of a clock: MSH-7 may be on the other side of it. */
const MAX_CHANGE_HOURS = 2;

/**
 * Returns `''` for a value that cannot be read or is less precise than a day. A time with an unknown offset is compared as it
 * is.
 */
export function collectionTime(text: string | undefined, zone: ZoneFallback): string {
  if (text === undefined) return '';
  try {
    const stamp = readTimestamp(text, '');
    if (stamp.day === undefined) return '';
    const known = fhirDateTime(stamp, zone);
    if (stamp.hour === undefined) return known;
    return minuteOf(Date.parse(known.includes('T') ? known : fhirDateTime(stamp, { offset: '+00:00' })));
  } catch (error) {
    if (error instanceof Fault) return '';
    throw error;
  }
}

const [FIRST_MS, LAST_MS] = [Date.parse('0001-01-01T00:00Z'), Date.parse('9999-12-31T23:59Z')];

/** Years have four digits, so that texts sort like times: a minute outside of them is the first or the last. */
const minuteOf = (ms: number): string =>
  `${new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString().slice(0, 16)}Z`;

/** The second of a time that has one; undefined for a time that is precise to the minute. */
export function secondOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return readTimestamp(text, '').second;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The first and last minute that the text may be in any time zone, before the zone of its site is known; null for any. */
export function minutesAround(text: string | undefined, offset: string | undefined): readonly [string, string] | null {
  const time = collectionTime(text, { offset: offset ?? '+00:00' });
  if (time === '') return null;
  const own = /[+-]\d{4}$/.test(text ?? '') ? 0 : offset === undefined ? MAX_OFFSET_HOURS : MAX_CHANGE_HOURS;
  const slack = (isDay(time) ? MAX_OFFSET_HOURS : own) * HOUR_MS;
  const start = Date.parse(time);
  const end = isDay(time) ? start + DAY_MS - MINUTE_MS : start;
  return [minuteOf(start - slack), minuteOf(end + slack)];
}

/**
 * The days that contain these minutes, and `''` for no time (`mayBeSameTime`).
 *
 * @param from as of `minutesAround`, and `to`
 */
export function daysAround([from, to]: readonly [string, string]): readonly string[] {
  const days: string[] = [''];
  const slack = MAX_OFFSET_HOURS * HOUR_MS;
  const end = Math.floor((Date.parse(to) + slack) / DAY_MS);
  let day = Math.floor((Date.parse(from) - slack) / DAY_MS);
  for (; day <= end; day += 1) days.push(new Date(day * DAY_MS).toISOString().slice(0, 10));
  return days;
}

export const isMinute = (time: string): boolean => time.length > 10;

interface Collected {
  readonly at: string;
  readonly second?: number | undefined;
}

/** Checks whether one time is given to the minute, and the other in seconds that round up to it. */
export function mayBeRounded(a: Collected, b: Collected): boolean {
  const isUp = (rounded: Collected, precise: Collected): boolean =>
    rounded.second === undefined &&
    (precise.second ?? 0) >= 30 &&
    Date.parse(rounded.at) - Date.parse(precise.at) === MINUTE_MS;
  return isMinute(a.at) && isMinute(b.at) && (isUp(a, b) || isUp(b, a));
}

const isDay = (time: string): boolean => time.length === 10;

/** Checks whether two different times may be of one collection: one of them is unknown, or only its day is known. */
export function mayBeSameTime(a: string, b: string): boolean {
  if (a === '' || b === '' || a === b) return true;
  if (isDay(a) === isDay(b)) return false;
  const [day, minute] = isDay(a) ? [a, b] : [b, a];
  const past = Date.parse(minute) - Date.parse(day);
  return past >= -MAX_OFFSET_HOURS * HOUR_MS && past < (24 + MAX_OFFSET_HOURS) * HOUR_MS;
}

/** Returns the more precise of two times of one collection. */
export const morePrecise = (a: string, b: string): string => (b.length > a.length ? b : a);
