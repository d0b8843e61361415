/** What of a patient's numbers and birth dates a site knows better than the standard: types, and values that mean nothing. */
import * as z from 'zod';

import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import { list } from '../../members/schemas.ts';

/** CX.5 is ID, at most 5 characters (HL7 v2.5.1 §2.A.14). */
const TYPE = /^[A-Za-z0-9]{1,5}$/;
const MAX_VALUE_CHARACTERS = 200;
// oxlint-disable-next-line no-control-regex
const VALUE = /^[^\u0000-\u001f\u007f,^~&|]*$/;
/** As HL7 writes a date. */
const EIGHT_DIGITS = /^(\d{4})(\d{2})(\d{2})$/;

const quoted = (item: string) => JSON.stringify(item);

/** Types of CX.5, in capitals. */
export const identifyingTypes = list((item) => {
  if (!TYPE.test(item)) return `${quoted(item)} is no type of a number: 1 to 5 letters or digits, as PID-3.5 has it`;
  if (!NEVER_IDENTIFYING.has(item.toUpperCase())) return undefined;
  return `${quoted(item)} never identifies a patient: people share such numbers, have several, or give those of others`;
}).transform((types) => unique(types.map((type) => type.toUpperCase())));

/** Values of CX.1. */
export const placeholders = list((item) => {
  if (item.length > MAX_VALUE_CHARACTERS) return `at most ${MAX_VALUE_CHARACTERS} characters`;
  return VALUE.test(item) ? undefined : `${quoted(item)} is more than the number itself: PID-3.1 alone`;
});

const dashed = (date: string): string => date.replace(EIGHT_DIGITS, '$1-$2-$3');

/** Whole dates, `1900-01-01` or as HL7 writes them, kept as FHIR does. */
export const birthDates = list((item) =>
  z.iso.date().safeParse(dashed(item)).success ? undefined : `${quoted(item)} is no date, such as 1900-01-01`,
).transform((dates) => unique(dates.map(dashed)));

const unique = (items: readonly string[]): string[] => [...new Set(items)];
