/**
 * Elements of a Patient that a general field states beside a specific one: PID-30 and PID-29 (death), PID-24 and PID-25 (multiple
 * birth). Each field keeps its precedence. So `Y` alone deletes no stored time of death, which an empty field leaves as it is. Pure.
 */
import { isJsonObject, sortedJson, type Json } from '../../../shared/json.ts';
import type { Contribution } from './contribution.ts';
import { readElement, writeElement } from './element.ts';
import type { Precedence } from './precedence.ts';
import { precedenceOfElement, type Register } from './registers.ts';
import type { Recorded } from './stated-value.ts';

/** The members of the general fields. */
const GENERAL: ReadonlyMap<string, string> = new Map([
  ['deceased[x]', 'deceasedBoolean'],
  ['multipleBirth[x]', 'multipleBirthBoolean'],
]);

export const isGeneral = (element: string): boolean => GENERAL.has(element);

interface State {
  readonly value: Json;
  readonly precedence: Precedence;
  /** The precedence of the specific value, or of the last statement against one. The register holds it if it is another. */
  readonly specific: Precedence;
}

/**
 * Alters `content` and `registers`.
 *
 * @param element as `isGeneral`
 * @returns true if a value was skipped that would have changed something
 */
export function changeGeneral(
  { content, remembered }: Recorded,
  registers: Map<string, Register>,
  stated: readonly Contribution[],
  element: string,
  precedence: Precedence,
): boolean {
  const member = GENERAL.get(element) ?? '';
  const isYes = (value: Json): boolean => isJsonObject(value) && value[member] === true;
  const isSpecific = (value: Json): boolean => isJsonObject(value) && !Object.hasOwn(value, member);
  const stored = precedenceOfElement(content, remembered, element);
  const register = registers.get(element);
  const held = register?.precedence === stored ? register.held : null;
  const specific = typeof held === 'string' ? held : stored;
  let state: State = { value: readElement(content, element) ?? null, precedence: stored, specific };
  let isStale = false;
  // The deletion of one field precedes the value of the other.
  for (const { value } of stated.toSorted((a, b) => Number(b.value === null) - Number(a.value === null))) {
    const isAlive = !isYes(state.value) && !isSpecific(state.value);
    if (isYes(value) && precedence >= state.precedence) {
      state = isAlive ? { value, precedence, specific: state.precedence } : { ...state, precedence };
    } else if (!isYes(value) && precedence >= state.precedence) {
      state = { value, precedence, specific: precedence };
    } else if (!isYes(value) && !isAlive && precedence >= state.specific) {
      state = { ...state, value: isSpecific(value) ? value : { [member]: true }, specific: precedence };
    } else if (!isYes(value) || isAlive) isStale ||= sortedJson(value) !== sortedJson(state.value);
  }
  writeElement(content, element, state.value);
  if (state.precedence !== '')
    registers.set(element, {
      precedence: state.precedence,
      held: state.specific === state.precedence ? null : state.specific,
    });
  return isStale;
}
