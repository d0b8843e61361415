/**
 * Combines two records of one resource, as if all statements had been about one of them (edge/docs/behaviour.md, HL7 v2, Which
 * resource). Not for patients, whose lists combine several fields. Pure.
 */
import { isRival, settled, union, type Applied } from './apply.ts';
import { readElement, setOrDelete } from './element.ts';
import { heldHistory, historyOf } from './history.ts';
import {
  ARRIVED,
  elementsOf,
  FORMER,
  GAINING,
  hidesOwnTime,
  REPLACED,
  resolve,
  settle,
  statedIn,
  SUBJECTS,
  TEXT,
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
  for (const name of [REPLACED, WITHDRAWN, ARRIVED]) {
    const register = theirs.get(name);
    if (register !== undefined && register.precedence > (registers.get(name)?.precedence ?? ''))
      registers.set(name, register);
  }
  const text = theirs.get(TEXT);
  if (text !== undefined && Number(text.held) > Number(registers.get(TEXT)?.held ?? -1)) registers.set(TEXT, text);
  const former = heldHistory(historyOf([kept, other]));
  if (former !== undefined) registers.set(FORMER, { precedence: '', held: former });
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
  const value = readElement(other.content, 'value[x]');
  const isTied =
    hidesOwnTime([kept.remembered.registers, theirs], withdrawal.precedence) ||
    isRival(kept, value, theirs.get('value[x]')?.precedence ?? '');
  return { content: settled(content, remembered, false), remembered, isStale: false, isTied };
}

/** Elements of a Patient with one of several members (FHIR R4, choice of data types). */
const CHOICES: readonly string[] = ['deceased', 'multipleBirth'];
/** Elements that say which record it is. */
const OWN: ReadonlySet<string> = new Set(['identifier', 'link', 'active']);

/** The element of a member, such as `deceasedBoolean`, or of a register, such as `name PID-5`. */
export const rootOf = (name: string): string => {
  const member = name.split(/[ [_]/)[0] ?? '';
  return CHOICES.find((choice) => member.startsWith(choice)) ?? member;
};

/** Adds the elements of another record of the same patient that `kept` lacks, with their precedences. */
export function filled(kept: Recorded, other: Recorded): Recorded {
  const present = new Set(Object.keys(kept.content).map(rootOf));
  const lacking = Object.entries(other.content).filter(([member]) => !OWN.has(member) && !present.has(rootOf(member)));
  const added = new Set(lacking.map(([member]) => rootOf(member)));
  const registers = [...other.remembered.registers].filter(([name]) => added.has(rootOf(name)));
  return {
    content: { ...kept.content, ...Object.fromEntries(lacking) },
    remembered: { ...kept.remembered, registers: new Map([...registers, ...kept.remembered.registers]) },
  };
}
