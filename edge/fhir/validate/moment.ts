/**
 * Days of the calendar and the order of partial dates, for FHIR's date, dateTime and instant (FHIR R4, Datatypes; FHIRPath N1,
 * Comparison). It expects texts of a valid form, and uses no clock.
 */

/** Regular expression source of a time zone. */
export const TIME_ZONE = '(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))';

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DATE_CHARACTERS = 'YYYY-MM-DD'.length;

/** True where the calendar has the date at the start of the text; true for a year or a month. */
export function isDay(text: string): boolean {
  const day = Number(text.slice(8, DATE_CHARACTERS));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (day > (DAYS[month - 1] ?? 0)) return false;
  if (month !== 2) return true;
  const year = Number(text.slice(0, 4));
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * True where the first moment is certainly after the second. Moments of different precision are compared by the parts that both
 * have. A date without a time has the zone of the other moment.
 */
export function isAfter(first: string, second: string): boolean {
  if (first.includes('T') && second.includes('T')) return Date.parse(first) > Date.parse(second);
  const length = Math.min(first.length, second.length, DATE_CHARACTERS);
  return first.slice(0, length) > second.slice(0, length);
}
