/** Identifiers that identify a patient, and placeholders (HL7 v2.5.1 table 0203, PID-3). */
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';

/** Type codes of which a patient has one identifier per authority. An identifier without a type counts as one of them. */
const IDENTIFYING_TYPES: ReadonlySet<string> = new Set(['MR', 'PI', 'PT', 'PN', 'PE', 'U', 'MRN']);

/** @param more types of the site, such as `NH` or `NI` */
export function isIdentifyingType(type: string | undefined, more: ReadonlySet<string>): boolean {
  if (type === undefined) return true;
  const code = type.trim().toUpperCase();
  return IDENTIFYING_TYPES.has(code) || (more.has(code) && !NEVER_IDENTIFYING.has(code));
}

/** `999-99-9999` and similar: social security numbers that are entered if the real one is unknown. */
const PLACEHOLDER_SHAPES: readonly RegExp[] = [/^(\d)\1\1-?\1\1-?\1\1\1\1$/, /^123-?45-?6789$/, /^987-?65-?4321$/];

/** One character repeated. Short repeated digits are identifiers of small clinics: 7, 11, 222, 99. */
const REPEATED = /^([^0-9])\1*$|^0+$|^9{3,}$|^([1-8])\2{3,}$/;

const PLACEHOLDER_TEXTS: ReadonlySet<string> = new Set(['UNKNOWN', 'UNK', 'NONE', 'NULL', 'N/A', 'NA', 'TEMP', 'TEST']);

/**
 * Checks for a value that stands for no identifier: many people share it.
 *
 * @param more values of the site's list, in capitals
 */
export function isPlaceholder(value: string, more: ReadonlySet<string>): boolean {
  const text = value.trim().toUpperCase();
  return (
    REPEATED.test(text) ||
    PLACEHOLDER_TEXTS.has(text) ||
    more.has(text) ||
    PLACEHOLDER_SHAPES.some((shape) => shape.test(text))
  );
}
