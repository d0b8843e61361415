/** The instants of a date or dateTime, according to its precision (FHIR R4 search, 3.1.1.4.8 date). */
import type { DateRange } from './kind.ts';

const DATE =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?)?)?$/;

const MINUTE_MS = 60_000;

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone.startsWith('-') ? -1 : 1) * minutes * MINUTE_MS;
}

/**
 * An instant for PostgreSQL. Ranges end up to a day before or after the years of FHIR, which PostgreSQL writes as 0001 BC and
 * 10000.
 *
 * @param ms since the epoch
 */
export function isoOf(ms: number): string {
  const iso = new Date(ms).toISOString();
  const year = new Date(ms).getUTCFullYear();
  if (year > 9999) return `${year}${iso.slice('+010000'.length)}`;
  if (year > 0) return iso;
  return `${String(1 - year).padStart(4, '0')}${iso.slice(year === 0 ? '0000'.length : '-000001'.length)} BC`;
}

/** The milliseconds of an instant of `isoOf`, or of `infinity` and `-infinity`. */
export function msOf(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY;
  if (text === '-infinity') return Number.NEGATIVE_INFINITY;
  const [, digits = '', rest = '', isBefore] = /^(\d+)(-[^ ]+)( BC)?$/.exec(text) ?? [];
  const year = isBefore === undefined ? Number(digits) : 1 - Number(digits);
  return Date.parse(`${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}${rest}`);
}

/** @returns undefined for an invalid date; R4 allows a second of 60 */
export function dateRange(text: string): DateRange | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [, year = '', month, day, hour, minute, second, fraction, zone] = match;
  const y = Number(year);
  const mo = Number(month ?? 1) - 1;
  const d = Number(day ?? 1);
  const h = Number(hour ?? 0);
  const mi = Number(minute ?? 0);
  const s = Number(second ?? 0);
  const ms = Number((fraction ?? '').slice(0, 3).padEnd(3, '0'));
  const start = new Date(0);
  start.setUTCFullYear(y, mo, d);
  // 31 February would become a day in March.
  if (start.getUTCMonth() !== mo || start.getUTCDate() !== d || h > 23 || mi > 59 || s > 60) return undefined;
  start.setUTCHours(h, mi, s, ms);

  const end = new Date(start);
  if (month === undefined) end.setUTCFullYear(y + 1);
  else if (day === undefined) end.setUTCMonth(mo + 1);
  else if (hour === undefined) end.setUTCDate(d + 1);
  else if (second === undefined) end.setUTCMinutes(mi + 1);
  else if (fraction === undefined) end.setTime(start.getTime() + 1000);
  else end.setTime(start.getTime() + 10 ** (3 - Math.min(fraction.length, 3)));

  const offset = offsetMs(zone);
  return { from: start.getTime() - offset, before: end.getTime() - offset, isLocal: zone === undefined };
}
