/** Delimiters as character codes, for the loop over the characters of a value. */
import { RECOMMENDED, type Delimiters } from './delimiters.ts';

export interface Separators {
  readonly field: number;
  readonly component: number;
  readonly repetition: number;
  readonly escape: number;
  /** -1, which no character equals, if the message has no subcomponents. */
  readonly subcomponent: number;
  /**
   * One bit for each delimiter, by its code modulo 32. A character whose bit (`1 << code`) is not set is not a
   * delimiter. This saves most comparisons.
   */
  readonly mask: number;
}

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
