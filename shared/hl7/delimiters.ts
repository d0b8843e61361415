/**
 * The separators of one message, read from MSH-1 and MSH-2 (also FHS and BHS, which begin alike). HL7 v2.5.1 §2.5.4;
 * the fifth character, the truncation character, is v2.7 §2.5.5.2 and is sent by v2.5.1 systems too.
 */
import { hl7Fault } from './error-code.ts';

export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string;
  readonly escape: string;
  /** Empty when MSH-2 has three characters: such a message has no subcomponents. */
  readonly subcomponent: string;
  /** Empty unless MSH-2 has five characters. */
  readonly truncation: string;
}

/** What the standard recommends, and what an answer uses when the sender's own cannot be read. */
export const RECOMMENDED: Delimiters = {
  field: '|',
  component: '^',
  repetition: '~',
  escape: '\\',
  subcomponent: '&',
  truncation: '',
};

/** Whether fields 1 and 2 of this segment are the separators themselves and must be neither split nor unescaped. */
export function declaresDelimiters(id: string): boolean {
  return id === 'MSH' || id === 'FHS' || id === 'BHS';
}

// ASCII punctuation: a letter or digit would split data, `"` would make `""` ambiguous, and a character beyond ASCII
// could not be found before the charset is known.
const USABLE = /^[!#-/:-@[-`{-~]$/;

/**
 * Reads the separators from the first line of a message.
 *
 * @param text from `MSH`, `FHS` or `BHS` on, with CR between its lines
 * @throws Fault 100 when it begins with no such segment; 101 when MSH-1 or MSH-2 is missing; 102 when a separator is
 *   no punctuation, is given twice, or MSH-2 has not 3 to 5 characters
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
  if (!USABLE.test(field)) throw unusable(id, 1, `${id}-1 is no punctuation character of ASCII`);

  const end = line.indexOf(field, 4);
  const encoding = line.slice(4, end < 0 ? undefined : end);
  if (encoding === '') throw missing(id, 2);
  if (encoding.length < 3 || encoding.length > 5) {
    throw unusable(id, 2, `${id}-2 has ${encoding.length} characters where 3 to 5 are expected`);
  }

  // `^~\\&`: the escape character doubled, as a sender's source code wrote it. Taken as one.
  const all = Array.from(field + encoding).filter((character, at, list) => at !== 4 || character !== list[3]);
  if (!all.every((character) => USABLE.test(character))) {
    throw unusable(id, 2, `${id}-2 holds a character that is no punctuation of ASCII`);
  }
  if (new Set(all).size !== all.length) throw unusable(id, 2, `${id}-1 and ${id}-2 hold one character twice`);

  const [, component = '', repetition = '', escape = '', subcomponent = '', truncation = ''] = all;
  return { field, component, repetition, escape, subcomponent, truncation };
}

/** MSH-2 as it is written. */
export function encodingCharacters(delimiters: Delimiters): string {
  const { component, repetition, escape, subcomponent, truncation } = delimiters;
  return component + repetition + escape + subcomponent + truncation;
}

const missing = (id: string, field: number) =>
  hl7Fault('101', `${id}^1^${field}`, `${id}-${field} is missing`, 'no-delimiters', 'malformed');

const unusable = (id: string, field: number, message: string) =>
  hl7Fault('102', `${id}^1^${field}`, message, 'bad-delimiters', 'malformed');
