/**
 * Combines two records of one resource, as if all statements had been about one of them (edge/docs/behaviour.md, HL7 v2, Which
 * resource; Merges). Pure.
 */
import { applyStatement, isRival, settled, union, type Applied, type Subject } from './apply.ts';
import { fixed } from './contribution.ts';
import { readElement, setOrDelete } from './element.ts';
import { heldHistory, historyOf } from './history.ts';
import { isList } from './list.ts';
import { later, stampOf } from './registers.ts';
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
 * Adds the other record's later and only statements to `kept`, which is not a Patient. The reference to the patient stays.
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
const OWN: ReadonlySet<string> = new Set(['identifier', 'link', 'active', 'merged', 'seealso']);

/** The element of a member, such as `deceasedBoolean`, or of a register, such as `name PID-5`. */
export const rootOf = (name: string): string => {
  const member = name.split(/[ [_]/)[0] ?? '';
  return CHOICES.find((choice) => member.startsWith(choice)) ?? member;
};

/**
 * Combines two records of one patient, as if all messages had been about `kept`. Additions of FHIR clients to the other record
 * fill only elements that `kept` lacks.
 */
export function joined(kept: Recorded, other: Recorded, names: Subject['names']): Recorded {
  const stated = other.remembered.registers;
  const present = new Set([...Object.keys(kept.content), ...kept.remembered.registers.keys()].map(rootOf));
  const isLacking = (name: string): boolean => !OWN.has(rootOf(name)) && !present.has(rootOf(name));
  const lacking = Object.entries(other.content).filter(([member]) => isLacking(member));
  const registers = [...stated].filter(([name]) => isLacking(name));
  let record: Recorded = {
    content: { ...kept.content, ...Object.fromEntries(lacking) },
    remembered: { ...kept.remembered, registers: new Map([...kept.remembered.registers, ...registers]) },
  };
  for (const [name, { precedence, held }] of stated) {
    const [root = '', field = ''] = name.split(' ');
    if (OWN.has(root) || (isList(root) && field === '')) continue;
    const [said, at] = isList(root)
      ? [fixed(root, held, field), precedence]
      : [fixed(name, readElement(other.content, name) ?? null), later(precedence, stampOf(other.remembered, name))];
    record = applyStatement(record.content, record.remembered, [said], at, { isPatient: true, names });
  }
  return record;
}
