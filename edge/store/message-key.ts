/**
 * What stored messages are found by, as `hl7_message_key` holds it and as people type it: the numbers and names of their
 * patients, and what was wrong with them. Whoever writes a key and whoever asks for it come through here.
 */
import { fold } from './search/fold.ts';

/** A row of `hl7_message_key`. */
export interface MessageKey {
  readonly key: string;
  /** `PID-3` */
  readonly field: string;
  /** A number as it was sent; all words of a name, a space before and after each; severity and code of an error. */
  readonly value: string;
  /** Of a number, namespace and universal id with `&` between them, as they were sent; else ''. */
  readonly authority: string;
}

/** Longer numbers are refused where they are mapped; a word is a part of a name. */
const MAX_LENGTH = 200;

/**
 * Numbers compare by their letters and digits, in any case, without zeros before them: people copy them from screens and
 * wristbands, and what is listed is shown as it was sent. (Whom a message is about is decided by the number as it is.)
 *
 * @returns undefined for what has neither letter nor digit
 */
export function numberKey(number: string): string | undefined {
  const plain = fold(number.slice(0, MAX_LENGTH))
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replace(/^0+(?=.)/, '');
  return plain === '' ? undefined : `#${plain}`;
}

/** The words of a name, folded as FHIR searches fold them: `O'Brien-Müller` is `obrien` and `muller`. */
export const nameWords = (name: string): string[] =>
  fold(name)
    .replaceAll(/['’ʼ`´]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, MAX_LENGTH));

/** All words of a name in one text, in which each is found as ` word`. */
export const wordsText = (words: readonly string[]): string => ` ${words.join(' ')} `;

/** Before the reason of an error or a warning; no number and no word begins so. */
export const REASON = '!';

/** What was typed to find a patient's messages by. */
export interface PatientText {
  /** As a number; null where it can be none. */
  readonly number: string | null;
  /** Who gave the number out, by namespace or universal id, where that was typed too (`4711^^^EAST&1.2.3`). */
  readonly authorities: readonly string[];
  /** As words of one name, each perhaps only the beginning of one. */
  readonly words: readonly string[];
}

/** Takes a number, a number with its authority as a CX writes it, or names in any order; undefined where nothing can be compared. */
export function readPatientText(text: string): PatientText | undefined {
  const [number = '', , , authority = ''] = text.split('^');
  const authorities = authoritiesIn(authority);
  // The fourth component of a name is its suffix: an authority stands beside something with a digit.
  const isNumber = authorities.length > 0 && /\p{N}/u.test(number);
  const found = { number: numberKey(number) ?? null, authorities, words: isNumber ? [] : nameWords(text) };
  return found.number === null && found.words.length === 0 ? undefined : found;
}

/** Namespace and universal id of an HD, as they are compared (authorities-meant.ts). */
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
