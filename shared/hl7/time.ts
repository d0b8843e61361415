/**
 * HL7 dates and times as FHIR writes them, without gaining or losing precision (HL7 v2.5.1 §2.A.21 DT, §2.A.75 TM,
 * §2.A.22 DTM; FHIR R4 date, dateTime, time). It knows no clock; the offset of a time zone is asked of `zone.ts`.
 */
import { Fault } from '../fault.ts';
import { hl7Fault } from './error-code.ts';
import { pathOf } from './value.ts';
import { offsetInZone } from './zone.ts';

/** A point in time as precise as it was sent. */
export interface Timestamp {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
  /** Digits after the point, as sent. */
  readonly fraction?: string;
  /** `+01:00`, when sent. */
  readonly offset?: string;
}

/** Where the offset of a time that has none comes from; the first that is given wins. */
export interface ZoneFallback {
  /** `+01:00`, of MSH-7. */
  readonly offset?: string | undefined;
  /** IANA name, `Europe/Vienna`: the site's. */
  readonly timeZone?: string | undefined;
}

const DTM = /^(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:\.(\d{1,4}))?)?)?)?)?)?([+-]\d{4})?$/;
const TM = /^(\d{2})(?:(\d{2})(?:(\d{2})(?:\.(\d{1,4}))?)?)?([+-]\d{4})?$/;

/**
 * Reads a DT, DTM or the first component of a TS.
 *
 * @param at where it stands, for the Fault
 * @throws Fault 102 when it is not one, or no day of the calendar, or no time of a day
 */
export function readTimestamp(text: string, at: string): Timestamp {
  const match = DTM.exec(text.trim());
  if (match === null) throw wrong(at, 'not a date or time of the form YYYYMMDDHHMMSS.SSSS+ZZZZ');
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
  if (!isOnCalendar(stamp)) throw wrong(at, 'no day of the calendar');
  if (!isTimeOfDay(stamp.hour, stamp.minute, stamp.second)) throw wrong(at, 'no time of a day');
  return stamp;
}

/** The offset of a time, `+01:00`; undefined where it has none or cannot be read. */
export function offsetOf(text: string | undefined): string | undefined {
  try {
    return readTimestamp(text ?? '', '').offset;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** FHIR date: `2026`, `2026-02` or `2026-02-03`; a time of day is left out. */
export function fhirDate(stamp: Timestamp): string {
  const { year, month, day } = stamp;
  return [digits(year, 4), ...[month, day].filter((part) => part !== undefined).map((part) => digits(part))].join('-');
}

/**
 * FHIR dateTime. Seconds (and the minutes of an hour) that were not sent are written as zero, because FHIR's syntax
 * demands them; a time whose offset nobody knows is reduced to its date.
 */
export function fhirDateTime(stamp: Timestamp, fallback: ZoneFallback = {}): string {
  const date = fhirDate(stamp);
  if (stamp.hour === undefined) return date;
  const offset = stamp.offset ?? fallback.offset ?? offsetOfZone(stamp, fallback.timeZone);
  if (offset === undefined) return date;
  return `${date}T${clock(stamp.hour, stamp.minute, stamp.second, stamp.fraction)}${offset}`;
}

/**
 * FHIR instant, for elements that take no less than a second. Minutes are enough, which is how precise most systems send:
 * seconds that were not sent are zero, as in a dateTime. Undefined when the time is less precise or its offset unknown.
 */
export function fhirInstant(stamp: Timestamp, fallback: ZoneFallback = {}): string | undefined {
  if (stamp.minute === undefined) return undefined;
  const text = fhirDateTime(stamp, fallback);
  return text.includes('T') ? text : undefined;
}

/**
 * A TM as FHIR time, `13:45:00.5`; FHIR's has no offset.
 *
 * @throws Fault 102 when it is no time of a day
 */
export function fhirTime(text: string, at: string): string {
  const match = TM.exec(text.trim());
  if (match === null) throw wrong(at, 'not a time of the form HHMMSS.SSSS+ZZZZ');
  const [, hour, minute, second, fraction, offset] = match;
  if (offset !== undefined) readOffset(offset, at);
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  if (!isTimeOfDay(h, m, s)) throw wrong(at, 'no time of a day');
  return clock(h, m, s, fraction);
}

/** `+0100` as `+01:00`. FHIR R4 goes to 14:00, which is also the greatest in use. */
function readOffset(text: string, at: string): string {
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3));
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) throw wrong(at, 'no offset from UTC');
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

function offsetOfZone(stamp: Timestamp, timeZone: string | undefined): string | undefined {
  if (timeZone === undefined) return undefined;
  const { year, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = stamp;
  return offsetInZone({ year, month, day, hour, minute, second }, timeZone);
}

function clock(hour: number, minute = 0, second = 0, fraction = ''): string {
  const time = [hour, minute, second].map((part) => digits(part)).join(':');
  return fraction === '' ? time : `${time}.${fraction}`;
}

const digits = (number: number, width = 2): string => String(number).padStart(width, '0');

const wrong = (at: string, what: string) => hl7Fault('102', at, `${pathOf(at)} is ${what}`, 'bad-time');
