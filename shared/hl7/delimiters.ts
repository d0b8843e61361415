/**
 * The delimiters of a message, read from field 1 and 2 of MSH, FHS or BHS (HL7 v2.5.1 §2.5.4). The fifth character, the
 * truncation character, is from v2.7 §2.5.5.2, but v2.5.1 systems send it too.
 */
import { hl7Fault } from './error-code.ts';

export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string;
  readonly escape: string;
  /** Empty if MSH-2 has three characters: such a message has no subcomponents. */
  readonly subcomponent: string;
  /** Empty unless MSH-2 has five characters. */
  readonly truncation: string;
}

/** The standard's recommendation, also used in an ACK if the sender's delimiters do not parse. */
export const RECOMMENDED: Delimiters = {
  field: '|',
  component: '^',
  repetition: '~',
  escape: '\\',
  subcomponent: '&',
  truncation: '',
};

/** True if fields 1 and 2 of this segment are the delimiters, which are neither split nor unescaped. */
export function declaresDelimiters(id: string): boolean {
  return id === 'MSH' || id === 'FHS' || id === 'BHS';
}

// ASCII punctuation without `"`. A letter or digit would split data, `"` would make `""` ambiguous, and other characters
// cannot be found before the character set is known.
const USABLE = /^[!#-/:-@[-`{-~]$/;

/**
 * Reads the delimiters from the first line of a message.
 *
 * @param text begins with `MSH`, `FHS` or `BHS`, and has CR between its lines
 * @throws Fault 100 if it begins with another segment; 101 if MSH-1 or MSH-2 is missing. 102 if a delimiter is not
 *   punctuation or is repeated, or MSH-2 does not have 3 to 5 characters.
 */
export function readDelimiters(text: string): Delimiters {
  if (text.startsWith('MSH|^~\\&|')) return RECOMMENDED;
  const [line = ''] = text.split('\r', 1);
  const id = line.slice(0, 3);
  if (!declaresDelimiters(id)) {
    throw hl7Fault('100', 'MSH^1', 'the message does not begin with an MSH segment', 'no-msh', 'malformed');
  }

  const field = line.charAt(3);
  if (field === '') throw missing(id, 1);
  if (!USABLE.test(field)) throw unusable(id, 1, `${id}-1 must be a punctuation character of ASCII`);

  const end = line.indexOf(field, 4);
  const encoding = line.slice(4, end < 0 ? undefined : end);
  if (encoding === '') throw missing(id, 2);
  if (encoding.length < 3 || encoding.length > 5) {
    throw unusable(id, 2, `${id}-2 has ${encoding.length} characters where 3 to 5 are expected`);
  }

  // `^~\\&`: the escape character is doubled, as in the sender's source code. It counts once.
  const all = Array.from(field + encoding).filter((character, at, list) => at !== 4 || character !== list[3]);
  if (!all.every((character) => USABLE.test(character))) {
    throw unusable(id, 2, `${id}-2 must contain only punctuation characters of ASCII`);
  }
  if (new Set(all).size !== all.length) throw unusable(id, 2, `${id}-1 and ${id}-2 must not repeat a character`);

  const [, component = '', repetition = '', escape = '', subcomponent = '', truncation = ''] = all;
  return { field, component, repetition, escape, subcomponent, truncation };
}

export function encodingCharacters(delimiters: Delimiters): string {
  const { component, repetition, escape, subcomponent, truncation } = delimiters;
  return component + repetition + escape + subcomponent + truncation;
}

const missing = (id: string, field: number) =>
  hl7Fault('101', `${id}^1^${field}`, `${id}-${field} is missing`, 'no-delimiters', 'malformed');

const unusable = (id: string, field: number, message: string) =>
  hl7Fault('102', `${id}^1^${field}`, message, 'bad-delimiters', 'malformed');
