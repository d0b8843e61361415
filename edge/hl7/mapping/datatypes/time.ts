/** DT, DTM, TS and DR as FHIR date, dateTime, instant and Period (v2-to-FHIR `DTM[dateTime]`, `TS[dateTime]`, `DR[Period]`). */
import { Fault } from '../../../../shared/fault.ts';
import { ERROR_REASONS } from '../../../../shared/hl7/error-reason.ts';
import { dayIn, fhirDate, fhirDateTime, fhirInstant, readTimestamp } from '../../../../shared/hl7/time.ts';
import { componentOf, locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { attempt, type MapContext, note, quietly } from '../context.ts';
import { members, textOf } from './text.ts';

/** A child of a part as FHIR dateTime. An invalid date is skipped with a warning (table 0357, 102). */
export function dateTime(part: Part | undefined, context: MapContext, number = 1): string | undefined {
  const text = textOf(part, number);
  if (part === undefined || text === undefined) return undefined;
  const at = locatePart(part, number);
  return attempt(context, () => fhirDateTime(readTimestamp(text, at), context.zone));
}

/** As FHIR date, without the time of day. A wrong time of day, such as 2400, is a warning and does not lose the date. */
export function date(part: Part | undefined, context: MapContext, number = 1): string | undefined {
  const text = textOf(part, number);
  if (part === undefined || text === undefined) return undefined;
  const at = locatePart(part, number);
  const read = (time: string, to: MapContext) => attempt(to, () => fhirDate(readTimestamp(time, at)));
  const found = read(text, context);
  const day = found === undefined ? dayIn(text) : undefined;
  return day === undefined ? found : read(day, quietly(context));
}

/** Checks that a part begins with a valid date or time. */
export function isDate(part: Part | undefined): boolean {
  const text = textOf(part, 1);
  if (text === undefined) return false;
  try {
    readTimestamp(text, '');
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** As FHIR instant. A time without minutes or without a known offset is skipped with a warning. */
export function instant(part: Part | undefined, context: MapContext): string | undefined {
  const text = textOf(part, 1);
  if (part === undefined || text === undefined) return undefined;
  const at = locatePart(part, 1);
  const stamp = attempt(context, () => readTimestamp(text, at));
  if (stamp === undefined) return undefined;
  const found = fhirInstant(stamp, context.zone);
  if (found === undefined) note(context, 'I', '0', at, NO_INSTANT, 'not-mapped');
  return found;
}

const NO_INSTANT = 'A time without minutes or without a known offset was stored with the message and not mapped.';

/** A Period from two dateTimes. An end before the start is skipped with a warning (FHIR R4, Period, per-1). */
export function period(
  start: string | undefined,
  end: string | undefined,
  context: MapContext,
  at: string,
): JsonObject | undefined {
  if (start !== undefined && end !== undefined && Date.parse(end) < Date.parse(start)) {
    note(context, 'W', '102', at, ERROR_REASONS['period-reversed'], 'period-reversed');
    return { start };
  }
  return members({ start, end });
}

/** DR: rows 3 and 4 of `DR[Period]`. */
export function dateRange(part: Part | undefined, context: MapContext, number?: number): JsonObject | undefined {
  const range = part === undefined || number === undefined ? part : componentOf(part, number);
  if (range === undefined) return undefined;
  return period(dateTime(range, context, 1), dateTime(range, context, 2), context, locatePart(range));
}

/** A dateTime some minutes later, with the same offset; undefined for one without a time of day. */
export function minutesAfter(start: string, minutes: number): string | undefined {
  const match = /(Z|([+-])(\d\d):(\d\d))$/.exec(start);
  if (match === null) return undefined;
  const [, offset = 'Z', sign, hours, rest] = match;
  const east = sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(rest));
  const local = new Date(Date.parse(start) + (minutes + east) * 60_000);
  return Number.isNaN(local.getTime()) ? undefined : local.toISOString().slice(0, 19) + offset;
}
