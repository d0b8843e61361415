/** Separators as character codes, for the loop that looks at every character of a value. */
import { RECOMMENDED, type Delimiters } from './delimiters.ts';

export interface Separators {
  readonly field: number;
  readonly component: number;
  readonly repetition: number;
  readonly escape: number;
  /** -1, which no character has, when the message has no subcomponents. */
  readonly subcomponent: number;
  /**
   * One bit for each of the five, by its code modulo 32: a character whose bit (`1 << code`) is not set is none of
   * them, which spares most characters five comparisons.
   */
  readonly mask: number;
}

/** The separators of a message. */
export function separatorsOf(delimiters: Delimiters): Separators {
  return delimiters === RECOMMENDED ? recommended : separators(delimiters);
}

function separators(delimiters: Delimiters): Separators {
  const code = (separator: string): number => (separator === '' ? -1 : separator.charCodeAt(0));
  const codes = {
    field: code(delimiters.field),
    component: code(delimiters.component),
    repetition: code(delimiters.repetition),
    escape: code(delimiters.escape),
    subcomponent: code(delimiters.subcomponent),
  };
  const present = Object.values(codes).filter((code) => code >= 0);
  return { ...codes, mask: present.reduce((mask, code) => mask | (1 << code), 0) };
}

const recommended = separators(RECOMMENDED);
