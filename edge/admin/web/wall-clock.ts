/** Converts instants to a site's local time and back. Stored and sent times are UTC. */
import { isTimeZone, offsetInZone, minutesEastOf } from '../../../shared/hl7/zone.ts';

export interface WallTime {
  /** `2026-11-22` */
  readonly day: string;
  /** `08:31:06` */
  readonly time: string;
  /** The zone's short name at that time: `CET`, `EDT`, or `UTC+04:00` if it has none. */
  readonly zone: string;
}

const MINUTE_MS = 60_000;

/** Intl has a zone's short name only in the English of its region: the first locale with a name wins. */
const ENGLISHES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

const names = new Map<string, string>();

function nameOf(timeZone: string, instantMs: number, offset: number): string {
  const at = `${timeZone} ${offset}`;
  const known = names.get(at);
  if (known !== undefined) return known;
  const found = ENGLISHES.map(
    (english) =>
      new Intl.DateTimeFormat(english, { timeZone, timeZoneName: 'short' })
        .formatToParts(instantMs)
        .find(({ type }) => type === 'timeZoneName')?.value ?? '',
  ).find((name) => /^[A-Z]+$/.test(name));
  const two = (number: number): string => String(number).padStart(2, '0');
  const minutes = Math.abs(offset);
  const name = found ?? `UTC${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  names.set(at, name);
  return name;
}

/** The zone, or UTC if this runtime does not know it. */
export const knownZone = (timeZone: string): string => (isTimeZone(timeZone) ? timeZone : 'UTC');

/** @param at an ISO 8601 instant with its offset */
export function wallTime(at: string, timeZone: string): WallTime {
  const zone = knownZone(timeZone);
  const instantMs = Date.parse(at);
  const offset = minutesEastOf(instantMs, zone);
  const local = new Date(instantMs + offset * MINUTE_MS).toISOString();
  return { day: local.slice(0, 10), time: local.slice(11, 19), zone: nameOf(zone, instantMs, offset) };
}

/** The zone as part of a label: `Berlin time`, `UTC`. */
export function clockOf(timeZone: string): string {
  const zone = knownZone(timeZone);
  return zone === 'UTC' ? zone : `${(zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')} time`;
}

const LOCAL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads a text as an instant. `datetime-local` sends a local time of the site; of a local time that occurs twice, the first
 * counts. A text with an offset keeps it.
 *
 * @returns ISO 8601 in UTC; a text that is neither, unchanged: the schema rejects it, so that no filter is left out
 */
export function readInstant(text: string | undefined, timeZone: string): string {
  if (text === undefined) return '';
  const [, year, month, day, hour, minute, second = '00'] = LOCAL.exec(text) ?? [];
  const isLocal = year !== undefined && !Number.isNaN(Date.parse(`${text}Z`));
  if (!isLocal && !INSTANT.test(text)) return text;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number);
  const wall = { year: y ?? 0, month: mo ?? 0, day: d ?? 0, hour: h ?? 0, minute: mi ?? 0, second: s ?? 0 };
  const zoned = isLocal ? `${text}${text.length === 16 ? ':00' : ''}${offsetInZone(wall, knownZone(timeZone))}` : text;
  const instantMs = Date.parse(zoned);
  return Number.isNaN(instantMs) ? text : new Date(instantMs).toISOString();
}

/** The value of a `datetime-local` field: an instant as local time of the site, any other text unchanged. */
export function fieldValue(given: string, timeZone: string): string {
  if (!INSTANT.test(given) || Number.isNaN(Date.parse(given))) return given;
  const { day, time } = wallTime(given, timeZone);
  return `${day}T${time.endsWith(':00') ? time.slice(0, 5) : time}`;
}
