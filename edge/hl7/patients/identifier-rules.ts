/** Which of a patient's numbers identify the patient, and which stand for "no number" (HL7 v2.5.1 table 0203, PID-3). */
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';

/** Types of numbers that a patient has one of in its domain; a number without a type is taken for one. */
const IDENTIFYING_TYPES: ReadonlySet<string> = new Set(['MR', 'PI', 'PT', 'PN', 'PE', 'U', 'MRN']);

/** @param more types of the site, such as `NH` or `NI` */
export function isIdentifyingType(type: string | undefined, more: ReadonlySet<string>): boolean {
  if (type === undefined) return true;
  const code = type.trim().toUpperCase();
  return IDENTIFYING_TYPES.has(code) || (more.has(code) && !NEVER_IDENTIFYING.has(code));
}

/** `999-99-9999` and its like: social security numbers that are entered when nobody knows one. */
const PLACEHOLDER_SHAPES: readonly RegExp[] = [/^(\d)\1\1-?\1\1-?\1\1\1\1$/, /^123-?45-?6789$/, /^987-?65-?4321$/];

/** One character repeated. Of digits a short one is a number that a small clinic gives out: 7, 11, 222, 99. */
const REPEATED = /^([^0-9])\1*$|^0+$|^9{3,}$|^([1-8])\2{3,}$/;

const WORDS: ReadonlySet<string> = new Set(['UNKNOWN', 'UNK', 'NONE', 'NULL', 'N/A', 'NA', 'TEMP', 'TEST']);

/**
 * Whether a value stands for "no number": of these many people have the same.
 *
 * @param more values of the site's own list, in capitals
 */
export function isPlaceholder(value: string, more: ReadonlySet<string>): boolean {
  const text = value.trim().toUpperCase();
  return (
    REPEATED.test(text) || WORDS.has(text) || more.has(text) || PLACEHOLDER_SHAPES.some((shape) => shape.test(text))
  );
}
