/**
 * The earlier values of a result, for the results whose parent it is (edge/docs/behaviour.md, HL7 v2, Which result). A result that
 * was `E. coli`, then `S. aureus` and then `E. coli` again looks as if it had never changed. Pure.
 */
import type { Json } from '../../../shared/json.ts';
import { valueText } from './value-text.ts';
import type { Precedence } from './precedence.ts';
import { FORMER, WITHDRAWN, type Recorded } from './stated-value.ts';

/**
 * A statement about a result: its precedence, a space, and its value. A number has no value here, since its correction does not
 * make it another parent. A withdrawal is its precedence and `~`, and sorts behind the value that its message states.
 */
export type Said = string;

const MAX_VALUE_LENGTH = 300;
/** The first and last statement of the last four values. */
const MAX_STATEMENTS = 8;

/** @param value as `valueText` prints it */
export const saidWith = (precedence: Precedence, value: string): Said =>
  `${precedence} ${/"(?:value[SC]|component)/.test(value) ? value.toLowerCase().slice(0, MAX_VALUE_LENGTH) : ''}`;

export const saidWithdrawn = (precedence: Precedence): Said => `${precedence}~`;

export const precedenceIn = (said: Said): Precedence => said.replace(/[ ~][^]*/, '');
/** A space and the value, or `~`. */
export const valueIn = (said: Said): string => said.slice(precedenceIn(said).length);

/**
 * The statements about a result, the newest last. If several in a row have one value, the first and the last are returned.
 *
 * @param records the same result, in one or several records
 */
export function historyOf(records: readonly Recorded[], ...more: readonly Said[]): readonly Said[] {
  const all = records.flatMap(({ content, remembered: { registers } }): Json[] => {
    const value = registers.get('value[x]');
    const withdrawal = registers.get(WITHDRAWN);
    return [
      ...[registers.get(FORMER)?.held ?? []].flat(),
      ...(value === undefined ? [] : [saidWith(value.precedence, valueText(content))]),
      ...(withdrawal === undefined ? [] : [saidWithdrawn(withdrawal.precedence)]),
    ];
  });
  const texts = [...new Set([...all, ...more])].filter((said) => typeof said === 'string');
  const sorted = texts.toSorted((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
  const isInner = (said: Said, at: number): boolean =>
    [sorted[at - 1], sorted[at + 1]].every((next) => next !== undefined && valueIn(next) === valueIn(said));
  return sorted.filter((said, at) => !isInner(said, at)).slice(-MAX_STATEMENTS);
}

/** The register of the history; undefined if the result has had one value. */
export const heldHistory = (history: readonly Said[]): Json[] | undefined =>
  new Set(history.map(valueIn)).size < 2 ? undefined : [...history];
