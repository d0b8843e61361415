/**
 * Converts HL7 dates and times to FHIR without changing their precision (HL7 v2.5.1 §2.A.21 DT, §2.A.75 TM, §2.A.22 DTM;
 * FHIR R4 date, dateTime, time). It reads no clock; `zone.ts` computes the offset of a time zone.
 */
import { attempt } from '../fault.ts';
import { hl7Fault } from './error-code.ts';
import { pathOf } from './value.ts';
import { offsetsInZone } from './zone.ts';

/** A time with the precision that was sent. */
export interface Timestamp {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
  /** Digits after the point, as sent. */
  readonly fraction?: string;
  /** `+01:00`, if sent. */
  readonly offset?: string;
}

/**
 * The offset of a time without one. With both members, the zone has this offset at times near MSH-7, and another one at times on the
 * other side of a clock change.
 */
export interface ZoneFallback {
  /** `+01:00`, from MSH-7. */
  readonly offset?: string | undefined;
  /** The site's IANA name, `Europe/Vienna`. */
  readonly timeZone?: string | undefined;
}

// The standard ends at four digits of a second. Systems with finer clocks send up to nine.
const DTM = /^(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:\.(\d{1,9}))?)?)?)?)?)?([+-]\d{4})?$/;
const TM = /^(\d{2})(?:(\d{2})(?:(\d{2})(?:\.(\d{1,9}))?)?)?([+-]\d{4})?$/;

/**
 * Reads a DT, DTM or the first component of a TS.
 *
 * @param at the ERR-2 location for the Fault
 * @throws Fault 102 if it is not a date or time, or not one of the calendar
 */
export function readTimestamp(text: string, at: string): Timestamp {
  const match = DTM.exec(text.trim());
  if (match === null) throw wrong(at, 'not a date or time in the format YYYYMMDDHHMMSS.SSSS+ZZZZ');
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const stamp: Timestamp = {
    year: Number(year),
    ...(month !== undefined && { month: Number(month) }),
    ...(day !== undefined && { day: Number(day) }),
    ...(hour !== undefined && { hour: Number(hour) }),
    ...(minute !== undefined && { minute: Number(minute) }),
    ...(second !== undefined && { second: Number(second) }),
    ...(fraction !== undefined && { fraction }),
    ...(offset !== undefined && { offset: readOffset(offset, at) }),
  };
  if (!isOnCalendar(stamp)) throw wrong(at, 'not a day of the calendar');
  if (!isTimeOfDay(stamp.hour, stamp.minute, stamp.second)) throw wrong(at, 'not a time of day');
  return stamp;
}

/** YYYYMMDD of a time with minutes, whose time of day and offset may be wrong; undefined for another text. */
export function dayIn(text: string): string | undefined {
  const [, year, month, day, , minute] = DTM.exec(text.trim()) ?? [];
  return minute === undefined ? undefined : `${year}${month}${day}`;
}

/** The offset of a time, `+01:00`; undefined if it has none or does not parse. */
export const offsetOf = (text: string | undefined): string | undefined =>
  attempt(() => readTimestamp(text ?? '', '').offset);

/** FHIR date: `2026`, `2026-02` or `2026-02-03`, without the time of day. */
export function fhirDate(stamp: Timestamp): string {
  const { year, month, day } = stamp;
  return [digits(year, 4), ...[month, day].filter((part) => part !== undefined).map((part) => digits(part))].join('-');
}

/**
 * FHIR dateTime. Minutes and seconds that were not sent become zero, because FHIR requires them. A time with an unknown
 * offset is reduced to its date.
 */
export function fhirDateTime(stamp: Timestamp, fallback: ZoneFallback = {}): string {
  const date = fhirDate(stamp);
  if (stamp.hour === undefined) return date;
  const [offset] = offsetsOf(stamp, fallback);
  if (offset === undefined) return date;
  return `${date}T${clock(stamp.hour, stamp.minute, stamp.second, stamp.fraction)}${offset}`;
}

/**
 * FHIR instant, for elements that require seconds. Seconds that were not sent become zero, because most systems send
 * minutes. Undefined if the time is less precise or its offset is unknown.
 */
export function fhirInstant(stamp: Timestamp, fallback: ZoneFallback = {}): string | undefined {
  if (stamp.minute === undefined) return undefined;
  const text = fhirDateTime(stamp, fallback);
  return text.includes('T') ? text : undefined;
}

/**
 * A TM as FHIR time, `13:45:00.5`, which has no offset.
 *
 * @throws Fault 102 if it is not a time of day
 */
export function fhirTime(text: string, at: string): string {
  const match = TM.exec(text.trim());
  if (match === null) throw wrong(at, 'not a time in the format HHMMSS.SSSS+ZZZZ');
  const [, hour, minute, second, fraction, offset] = match;
  if (offset !== undefined) readOffset(offset, at);
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  if (!isTimeOfDay(h, m, s)) throw wrong(at, 'not a time of day');
  return clock(h, m, s, fraction);
}

/** Converts `+0100` to `+01:00`. The largest offset in FHIR R4 and in use is 14:00. */
function readOffset(text: string, at: string): string {
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3));
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) throw wrong(at, 'not an offset from UTC');
  const sign = hours === 0 && minutes === 0 ? '+' : text.charAt(0);
  return `${sign}${text.slice(1, 3)}:${text.slice(3)}`;
}

function isOnCalendar({ year, month = 1, day = 1 }: Timestamp): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

const isTimeOfDay = (hour = 0, minute = 0, second = 0): boolean => hour <= 23 && minute <= 59 && second <= 59;

/** The offset of a time: none if it is unknown, two in the hour that a clock shows twice, the earlier instant first. */
export function offsetsOf(stamp: Timestamp, { offset, timeZone }: ZoneFallback): readonly string[] {
  const sent = stamp.offset ?? (timeZone === undefined ? offset : undefined);
  if (sent !== undefined) return [sent];
  const offsets: readonly string[] = timeZone === undefined ? [] : offsetsAt(stamp, timeZone);
  return offset !== undefined && offsets.includes(offset) ? [offset] : offsets;
}

/**
 * The zone of a message. The offset of MSH-7 applies to all its times (HL7 v2.5.1 §2.15.9.7).
 *
 * @param sent MSH-7
 * @param timeZone the site's zone; a sender with its offset is in this zone
 */
export function zoneOf(sent: Timestamp | undefined, timeZone: string | undefined): ZoneFallback {
  const offset = sent?.offset;
  if (sent === undefined || offset === undefined) return { timeZone };
  return timeZone !== undefined && offsetsAt(sent, timeZone).includes(offset) ? { offset, timeZone } : { offset };
}

function offsetsAt({ year, month = 1, day = 1, hour = 0, minute = 0, second = 0 }: Timestamp, timeZone: string) {
  return offsetsInZone({ year, month, day, hour, minute, second }, timeZone);
}

function clock(hour: number, minute = 0, second = 0, fraction = ''): string {
  const time = [hour, minute, second].map((part) => digits(part)).join(':');
  return fraction === '' ? time : `${time}.${fraction}`;
}

const digits = (number: number, width = 2): string => String(number).padStart(width, '0');

const wrong = (at: string, what: string) => hl7Fault('102', at, `${pathOf(at)} is ${what}`, 'bad-time');
