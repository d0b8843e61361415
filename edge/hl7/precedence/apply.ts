/**
 * Applies a message's contributions to a stored resource, each register for itself (edge/docs/behaviour.md, HL7 v2, The order).
 * The higher precedence wins, in any order of arrival. A lower one fills only elements without a value. A field that was sent
 * replaces the stored element, `""` deletes it, and an absent field changes nothing (HL7 v2.5.1 §2.5.3). Pure.
 */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { saidText } from './added-coding.ts';
import type { Contribution } from './contribution.ts';
import { changeGeneral, isGeneral } from './general.ts';
import { readElement, setOrDelete, writeElement } from './element.ts';
import { changeIdentifiers } from './identifiers.ts';
import { changeList, isList } from './list.ts';
import { asDefault, isSameTime, isTied as areTied, type Precedence } from './precedence.ts';
import { later, stampOf, type Register, type Remembered } from './registers.ts';
import {
  elementsOf,
  hidesOwnTime,
  isHidden,
  REPLACED,
  resolve,
  settle,
  statedIn,
  WITHDRAWN,
  withdrawalOf,
  type Recorded,
  type Withdrawal,
} from './stated-value.ts';

export interface Applied extends Recorded {
  /** A contribution that would have changed the resource was skipped, because a newer statement is stored. */
  readonly isStale: boolean;
  /** A withdrawal hides a statement of the same time, or two values have one time. */
  readonly isTied: boolean;
}

export interface Subject {
  /**
   * The lists of a patient combine several fields and the additions of FHIR clients. Another resource's list is an element like
   * others.
   */
  readonly isPatient: boolean;
  /** System URIs of assigning authorities, by name in capitals. */
  readonly names: ReadonlyMap<string, string>;
  /** The message withdraws the result or report (OBX-11 W, D or X; OBR-25 X). */
  readonly isWithdrawal?: boolean;
}

/** @param content the resource's; not altered */
export function applyStatement(
  content: JsonObject,
  remembered: Remembered,
  contributions: readonly Contribution[],
  precedence: Precedence,
  { isPatient, names, isWithdrawal = false }: Subject,
): Applied {
  const next = { ...content };
  const registers = new Map(remembered.registers);
  const state: Remembered = { ...remembered, registers };
  const before = registers.get(WITHDRAWN)?.precedence ?? '';
  const isNewest = isWithdrawal && precedence >= before;
  if (isNewest) registers.set(WITHDRAWN, { precedence, held: null });
  const isStatus = ({ element, isDefault }: Contribution): boolean => element === 'status' && isDefault !== true;
  const isAnswer = !isWithdrawal && contributions.some(isStatus);
  const withdrawal = isPatient ? undefined : withdrawalOf([registers], isAnswer ? precedence : '');

  const said = byElement(contributions);
  // A withdrawal hides everything older, and the status after it hides what the withdrawal itself stated.
  const isHiding = isNewest || (isAnswer && before !== '' && !isHidden(precedence, before));
  const hiding = isHiding ? elementsOf({ content, remembered }) : [];
  let isStale = false;
  for (const element of new Set([...said.keys(), ...hiding])) {
    const stored = next[element];
    const list = Array.isArray(stored) ? stored : [];
    const stated = said.get(element) ?? [];
    if (isPatient && element === 'identifier' && stated.every(({ adds }) => adds !== true)) {
      const change = changeIdentifiers(list, state, stated, precedence, names);
      registers.clear();
      for (const [name, register] of change.registers) registers.set(name, register);
      setOrDelete(next, element, change.items);
    } else if (isPatient && isList(element)) {
      const change = changeList(list, state, element, stated, precedence);
      for (const [name, register] of change.registers) registers.set(name, register);
      setOrDelete(next, element, change.items);
      isStale ||= change.isStale;
    } else if (isPatient && isGeneral(element)) {
      isStale = changeGeneral({ content: next, remembered: state }, registers, stated, element, precedence) || isStale;
    } else {
      for (const { adds, value } of stated) if (adds === true) setOrDelete(next, element, union(next[element], value));
      const values = lastOf(stated.filter(({ adds }) => adds !== true));
      isStale =
        changeElement({ content: next, remembered: state }, registers, values, element, precedence, withdrawal) ||
        isStale;
    }
  }
  const isTied = isNewest
    ? hidesOwnTime([remembered.registers], precedence)
    : !isWithdrawal &&
      ((isHidden(precedence, before) && isSameTime(precedence, before)) ||
        isRival({ content, remembered }, said.get(VALUE)?.at(-1)?.value, precedence));
  return { content: settled(next, state, isPatient), remembered: state, isStale, isTied };
}

/** Checks for another value of the result with the same time. */
export const isRival = (record: Recorded, value: Json | undefined, precedence: Precedence): boolean => {
  if (value === undefined) return false;
  const { counting, waiting } = statedIn(record, VALUE);
  const tied = [counting, waiting].find((stated) => stated !== undefined && areTied(stated.precedence, precedence));
  const content: JsonObject = {};
  writeElement(content, VALUE, tied?.value ?? null);
  return tied !== undefined && wouldChange(content, VALUE, value);
};
const VALUE = 'value[x]';

function byElement(contributions: readonly Contribution[]): Map<string, Contribution[]> {
  const found = new Map<string, Contribution[]>();
  for (const said of contributions) found.set(said.element, [...(found.get(said.element) ?? []), said]);
  return found;
}

/** If a message has several values for one element, the last counts. */
function lastOf(said: readonly Contribution[]): Contribution[] {
  const last = said.findLast(({ isDefault }) => isDefault !== true);
  return said.filter((each) => each === last || each.isDefault === true);
}

/** @returns true if a value was skipped that would have changed something */
function changeElement(
  record: Recorded,
  registers: Map<string, Register>,
  said: readonly Contribution[],
  element: string,
  precedence: Precedence,
  withdrawal: Withdrawal | undefined,
): boolean {
  const values = said.map(({ value, isDefault }) => ({
    precedence: isDefault === true ? asDefault(precedence) : precedence,
    value,
  }));
  const stored = statedIn(record, element);
  const resolved = resolve(element, [stored.counting, stored.waiting, ...values], withdrawal);
  settle(record.content, registers, element, stored.counting, resolved);
  const leftOut = values.find((each, at) => each !== resolved.counting && said[at]?.isDefault !== true);
  if (leftOut === undefined) return false;
  return wouldChange(record.content, element, leftOut.value);
}

function wouldChange(content: JsonObject, element: string, value: Json): boolean {
  const tried = { ...content };
  writeElement(tried, element, value);
  return elementText(tried, element) !== elementText(content, element);
}

const elementText = (content: JsonObject, element: string): string => saidText(readElement(content, element) ?? null);

/** The items, as texts, of lists that `union` made. Thousands of OBR may add to one report, each to the list of the last. */
const ITEMS = new WeakMap<readonly Json[], Set<string>>();

export function union(stored: Json | undefined, sent: Json): Json[] {
  const old = Array.isArray(stored) ? stored : [];
  const known = ITEMS.get(old) ?? new Set(old.map(sortedJson));
  // The set belongs to the new list: its additions are not in the old one.
  ITEMS.delete(old);
  const all = [...old];
  for (const item of Array.isArray(sent) ? sent : []) {
    const text = sortedJson(item);
    if (!known.has(text)) all.push(item);
    known.add(text);
  }
  ITEMS.set(all, known);
  return all;
}

/**
 * Marks a document that another one replaced. It stays superseded after later messages, unless it was entered in error.
 *
 * @param precedence the replacing message's; a later status of a FHIR client has precedence
 */
export function supersede(content: JsonObject, remembered: Remembered, precedence: Precedence): Applied {
  const registers = new Map(remembered.registers);
  registers.set(REPLACED, { precedence: later(precedence, registers.get(REPLACED)?.precedence ?? ''), held: null });
  const state = { ...remembered, registers };
  return { content: settled({ ...content }, state, false), remembered: state, isStale: false, isTied: false };
}

/** Sets the elements that follow from other elements, in any order of arrival. Alters and returns `content`. */
export function settled(content: JsonObject, remembered: Remembered, isPatient: boolean): JsonObject {
  const replaced = remembered.registers.get(REPLACED)?.precedence;
  if (replaced !== undefined && replaced >= stampOf(remembered, 'status') && content['status'] !== 'entered-in-error') {
    content['status'] = 'superseded';
    delete content['_status'];
  }
  // A merged patient is never active, also after late messages (FHIR R4, Patient.link).
  if (isPatient && isMergedAway(content)) content['active'] = false;
  return content;
}

function isMergedAway({ link }: JsonObject): boolean {
  return Array.isArray(link) && link.some((item) => isJsonObject(item) && item['type'] === 'replaced-by');
}
