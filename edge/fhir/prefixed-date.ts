/** Dates with a prefix: the instants that they select (FHIR R4 search, 3.1.1.4.5 prefixes, 3.1.1.4.8 date). */
import { dateRange, isoOf } from '../store/search/date-range.ts';
import type { DateRange, Interval } from '../store/search/kind.ts';

/** The + of a time zone that was not escaped in a URL arrives as a space. */
const PLUS_AS_SPACE = / (?=\d\d:\d\d$)/;

/** R4 leaves `ap` to the server and recommends a tenth of the distance from now. */
const APPROXIMATE_SHARE = 0.1;

const PREFIXED = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)(?=\d)/;

/** A date of any precision with an optional prefix, taken apart. */
export function prefixed(text: string): { readonly prefix: string | null; readonly date: string } {
  const prefix = PREFIXED.exec(text)?.[1] ?? null;
  return { prefix, date: text.slice(prefix?.length ?? 0) };
}

/**
 * The instants that a prefix compares with: those of the date, which `ap` makes wider.
 *
 * @param nowMs milliseconds since the epoch, for `ap`
 * @returns undefined for an invalid date
 */
export function comparedRange(prefix: string | null, date: string, nowMs: number): DateRange | undefined {
  const range = dateRange(date.replace(PLUS_AS_SPACE, '+'));
  if (range === undefined || prefix !== 'ap') return range;
  const slack = Math.abs(nowMs - range.from) * APPROXIMATE_SHARE;
  return { ...range, from: range.from - slack, before: range.before + slack };
}

/**
 * @param text a date or dateTime of any precision with an optional prefix; without a zone it is UTC
 * @param nowMs milliseconds since the epoch, for `ap`
 * @returns the instants it selects, or undefined for an invalid text
 */
export function instantInterval(text: string, nowMs: number): Interval | undefined {
  const { prefix, date } = prefixed(text);
  const range = comparedRange(prefix, date, nowMs);
  if (range === undefined) return undefined;
  const from = isoOf(range.from);
  const before = isoOf(range.before);
  switch (prefix) {
    case 'ne':
      return { from, before, outside: true };
    case 'gt':
    case 'sa':
      return { from: before, before: null, outside: false };
    case 'ge':
      return { from, before: null, outside: false };
    case 'lt':
    case 'eb':
      return { from: null, before: from, outside: false };
    case 'le':
      return { from: null, before, outside: false };
    default:
      return { from, before, outside: false };
  }
}

const INSTANT = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[ +-]\d\d:\d\d)$/;

/**
 * @param text a date and a time to the second or more precise, with a zone
 * @returns the instant in UTC, to the millisecond; undefined for another text, also for a date alone, whose day depends on the zone
 */
export const readInstant = (text: string): string | undefined =>
  INSTANT.test(text) ? (instantInterval(text, 0)?.from ?? undefined) : undefined;
