/**
 * Combines two records of one resource, as if all statements had been about one of them (edge/docs/behaviour.md, HL7 v2, Which
 * resource). Not for patients, whose lists combine several fields. Pure.
 */
import { settled, union, type Applied } from './apply.ts';
import { setOrDelete } from './element.ts';
import { later } from './registers.ts';
import {
  elementsOf,
  GAINING,
  hidesOwnTime,
  REPLACED,
  resolve,
  settle,
  statedIn,
  SUBJECTS,
  WITHDRAWN,
  withdrawalOf,
  type Recorded,
} from './stated-value.ts';

/**
 * Adds the other record's later and only statements to `kept`. The reference to the patient stays.
 *
 * @param other with references to the survivor's resources already
 */
export function combined(kept: Recorded, other: Recorded): Applied {
  const content = { ...kept.content };
  const registers = new Map(kept.remembered.registers);
  const theirs = other.remembered.registers;
  for (const name of [REPLACED, WITHDRAWN]) {
    const register = theirs.get(name);
    if (register !== undefined)
      registers.set(name, {
        ...register,
        precedence: later(register.precedence, registers.get(name)?.precedence ?? ''),
      });
  }
  const withdrawal = withdrawalOf([registers, theirs], '');
  for (const element of elementsOf(kept, other)) {
    if (SUBJECTS.has(element)) continue;
    if (GAINING.has(element)) {
      setOrDelete(content, element, union(content[element], other.content[element] ?? []));
      continue;
    }
    const [ours, said] = [statedIn(kept, element), statedIn(other, element)];
    const stated = [said.waiting, said.counting, ours.waiting, ours.counting];
    settle(content, registers, element, ours.counting, resolve(element, stated, withdrawal));
  }
  const remembered = { ...kept.remembered, registers };
  const isTied = hidesOwnTime([kept.remembered.registers, theirs], withdrawal.precedence);
  return { content: settled(content, remembered, false), remembered, isStale: false, isTied };
}
