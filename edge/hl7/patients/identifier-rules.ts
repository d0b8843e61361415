/** Identifiers that identify a patient, and placeholders (HL7 v2.5.1 table 0203, PID-3). */
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import { DOUBTFUL_NUMBER, HYPHENATED_PLACEHOLDER, PLACEHOLDER_TEXTS } from '../../../shared/hl7/placeholder.ts';

/** Type codes of which a patient has one identifier per authority. An identifier without a type counts as one of them. */
const IDENTIFYING_TYPES: ReadonlySet<string> = new Set(['MR', 'PI', 'PT', 'PN', 'PE', 'U', 'MRN']);

/** @param more types of the site, such as `NH` or `NI` */
export function isIdentifyingType(type: string | undefined, more: ReadonlySet<string>): boolean {
  if (type === undefined) return true;
  const code = type.trim().toUpperCase();
  return IDENTIFYING_TYPES.has(code) || (more.has(code) && !NEVER_IDENTIFYING.has(code));
}

/** Zeros, and letters or punctuation alone. */
const NEVER_A_NUMBER = /^(?:([^0-9])\1*|0+)$/;

/** The parts of an identifier, beside its value, that show a real identifier. */
export interface IdentifierKind {
  /** CX.5 */
  readonly type: string | undefined;
  readonly hasAuthority: boolean;
}

/**
 * Checks for a value that stands for no identifier: many people share it. A doubtful value is one if it is a social security
 * number, or if nothing shows what it is.
 *
 * @param more values of the site's list, in capitals
 */
export function isPlaceholder(
  value: string,
  { type, hasAuthority }: IdentifierKind,
  more: ReadonlySet<string>,
): boolean {
  const text = value.trim().toUpperCase();
  if (NEVER_A_NUMBER.test(text) || PLACEHOLDER_TEXTS.has(text) || more.has(text) || HYPHENATED_PLACEHOLDER.test(text))
    return true;
  const isDoubted = type === undefined ? !hasAuthority : /^SSN?$/i.test(type.trim());
  return isDoubted && DOUBTFUL_NUMBER.test(text);
}
