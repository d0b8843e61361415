/**
 * The search keys of stored messages, as `hl7_message_key` has them and as people type them: the identifiers and names
 * of their patients, and their errors. Both writers and readers of a key use this module.
 */
import { fold } from './search/fold.ts';

/** A row of `hl7_message_key`. */
export interface MessageKey {
  readonly key: string;
  /** `PID-3` */
  readonly field: string;
  /** An identifier as it was sent; all words of a name, a space before and after each; severity and code of an error. */
  readonly value: string;
  /** The authority of an identifier: namespace and universal id with `&` between them, as they were sent; else ''. */
  readonly authority: string;
}

/** The mapping rejects longer identifiers; a word is a part of a name. */
const MAX_LENGTH = 200;

/**
 * Identifiers compare by their letters and digits, in any case, without leading zeros: people copy them from screens
 * and wristbands. The list shows them as they were sent. (The match of a message's patient uses the unchanged
 * identifier.)
 *
 * @returns undefined for a text with neither letter nor digit
 */
export function numberKey(number: string): string | undefined {
  const plain = fold(number.slice(0, MAX_LENGTH))
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replace(/^0+(?=.)/, '');
  return plain === '' ? undefined : `#${plain}`;
}

/** The words of a name, folded as FHIR searches fold them: `O'Brien-Müller` is `obrien` and `muller`. */
export const nameTerms = (name: string): string[] =>
  fold(name)
    .replaceAll(/['’ʼ`´]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, MAX_LENGTH));

/** All words of a name in one text, in which each is found as ` word`. */
export const termsText = (terms: readonly string[]): string => ` ${terms.join(' ')} `;

/** Before the reason of an error or a warning; no number and no word begins so. */
export const REASON = '!';

/** A search text for a patient's messages. */
export interface PatientText {
  /** The text as an identifier; null if it cannot be an identifier. */
  readonly number: string | null;
  /** The assigning authorities, by namespace or universal id, if they were typed too (`4711^^^EAST&1.2.3`). */
  readonly authorities: readonly string[];
  /** As words of one name, each perhaps only the beginning of one. */
  readonly terms: readonly string[];
}

/**
 * Reads an identifier, an identifier with its authority as in a CX, or names in any order. Undefined for a text without a letter or a
 * digit.
 */
export function readPatientText(text: string): PatientText | undefined {
  const [number = '', , , authority = ''] = text.split('^');
  const authorities = authoritiesIn(authority);
  // The fourth component of a name is its suffix: an authority needs a digit in the identifier.
  const isNumber = authorities.length > 0 && /\p{N}/u.test(number);
  const found = { number: numberKey(number) ?? null, authorities, terms: isNumber ? [] : nameTerms(text) };
  return found.number === null && found.terms.length === 0 ? undefined : found;
}

/** Namespace and universal id of an HD, as they are compared (authority-synonyms.ts). */
const authoritiesIn = (authority: string): string[] =>
  authority
    .split('&')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .replace(/^urn:(?:oid|uuid):/, ''),
    )
    .filter((part) => part !== '');
