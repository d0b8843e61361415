/** A site's own identifying types, placeholder identifiers and placeholder birth dates. */
import * as z from 'zod';

import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import { list } from '../../members/schemas.ts';

/** CX.5 is ID, at most 5 characters (HL7 v2.5.1 §2.A.14). */
const TYPE = /^[A-Za-z0-9]{1,5}$/;
const MAX_VALUE_CHARACTERS = 200;
// oxlint-disable-next-line no-control-regex
const VALUE = /^[^\u0000-\u001f\u007f,^~&|]*$/;
const EIGHT_DIGITS = /^(\d{4})(\d{2})(\d{2})$/;

const quoted = (item: string) => JSON.stringify(item);

/** Types of CX.5, in capitals. */
export const identifyingTypes = list((item) => {
  if (!TYPE.test(item)) return `${quoted(item)} is not a type code of PID-3.5: 1 to 5 letters or digits`;
  if (!NEVER_IDENTIFYING.has(item.toUpperCase())) return undefined;
  return `${quoted(item)} never identifies a patient: several people may share it`;
}).transform((types) => unique(types.map((type) => type.toUpperCase())));

/** Values of CX.1. */
export const placeholders = list((item) => {
  if (item.length > MAX_VALUE_CHARACTERS) return `at most ${MAX_VALUE_CHARACTERS} characters`;
  return VALUE.test(item) ? undefined : `${quoted(item)} is more than the identifier: give PID-3.1 alone`;
});

const dashed = (date: string): string => date.replace(EIGHT_DIGITS, '$1-$2-$3');

/** Complete dates, `1900-01-01` or `19000101`, stored in FHIR's format. */
export const birthDates = list((item) =>
  z.iso.date().safeParse(dashed(item)).success ? undefined : `${quoted(item)} is not a date, such as 1900-01-01`,
).transform((dates) => unique(dates.map(dashed)));

const unique = (items: readonly string[]): string[] => [...new Set(items)];
