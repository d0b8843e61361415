/** Dates as intervals: what `_lastUpdated` compares with (FHIR R4 search, 3.1.1.4.5 prefixes, 3.1.1.4.8 date). */
import type { Interval } from '../../store/search/kind.ts';

const DATE =
  /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?)?)?$/;

/** The + of a zone that was not escaped in a URL: it arrives as a space, and nothing else can be one there. */
const PLUS_AS_SPACE = / (?=\d\d:\d\d$)/;

/** R4 leaves `ap` to the server and recommends a tenth of the distance from now. */
const APPROXIMATE_SHARE = 0.1;
const MINUTE_MS = 60_000;

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone.startsWith('-') ? -1 : 1) * minutes * MINUTE_MS;
}

/** What both ISO text and PostgreSQL can say; nothing was written before or will be after. */
const FIRST_MS = Date.parse('0002-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const isoOf = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();

/**
 * @param text a date or dateTime of any precision with an optional prefix; without a zone it is UTC
 * @param nowMs milliseconds since the epoch, for `ap`
 * @returns the instants it selects, or undefined when it is no such thing
 */
export function instantInterval(text: string, nowMs: number): Interval | undefined {
  const match = DATE.exec(text.replace(PLUS_AS_SPACE, '+'));
  if (match === null) return undefined;
  const [, prefix = 'eq', year = '', month, day, hour, minute, second, fraction, zone] = match;
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
  if (start.getUTCMonth() !== mo || start.getUTCDate() !== d || h > 23 || mi > 59 || s > 59) return undefined;
  start.setUTCHours(h, mi, s, ms);

  const end = new Date(start);
  if (month === undefined) end.setUTCFullYear(y + 1);
  else if (day === undefined) end.setUTCMonth(mo + 1);
  else if (hour === undefined) end.setUTCDate(d + 1);
  else if (second === undefined) end.setUTCMinutes(mi + 1);
  else if (fraction === undefined) end.setUTCSeconds(s + 1);
  else end.setUTCMilliseconds(ms + 10 ** (3 - Math.min(fraction.length, 3)));

  const from = start.getTime() - offsetMs(zone);
  const before = end.getTime() - offsetMs(zone);
  switch (prefix) {
    case 'ne':
      return { from: isoOf(from), before: isoOf(before), outside: true };
    case 'gt':
    case 'sa':
      return { from: isoOf(before), before: null, outside: false };
    case 'ge':
      return { from: isoOf(from), before: null, outside: false };
    case 'lt':
    case 'eb':
      return { from: null, before: isoOf(from), outside: false };
    case 'le':
      return { from: null, before: isoOf(before), outside: false };
    case 'ap': {
      const slack = Math.abs(nowMs - from) * APPROXIMATE_SHARE;
      return { from: isoOf(from - slack), before: isoOf(before + slack), outside: false };
    }
    default:
      return { from: isoOf(from), before: isoOf(before), outside: false };
  }
}
