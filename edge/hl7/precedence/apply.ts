/**
 * What a message says, put into what is stored, each register for itself: the newer statement holds, whichever came first;
 * an older one fills what nobody newer has valued (edge/docs/behaviour.md, HL7 v2). An element that was sent replaces the stored
 * one, one that was not sent stays, `""` deletes it (HL7 v2.5.1 §2.5.3). Pure.
 */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Contribution } from './contribution.ts';
import { readElement, setOrDelete, writeElement } from './element.ts';
import { changeIdentifiers } from './identifiers.ts';
import { changeList, isList } from './list.ts';
import { asDefault, isSameTime, type Precedence } from './precedence.ts';
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
  /** Something that would have changed the resource was left out, because something newer is known. */
  readonly isStale: boolean;
  /** A withdrawal hides a statement of its own time. */
  readonly isTied: boolean;
}

/** What besides the statement decides how it is applied. */
export interface Whose {
  /** Its lists are put together from several fields and what FHIR clients added; of others a list is like any element. */
  readonly isPatient: boolean;
  /** System URIs of assigning authorities, by their names in capitals. */
  readonly names: ReadonlyMap<string, string>;
  /** The message takes the result or report back (OBX-11 W, D or X; OBR-25 X). */
  readonly isWithdrawal?: boolean;
}

/** @param content of the resource; not altered */
export function applyStatement(
  content: JsonObject,
  remembered: Remembered,
  contributions: readonly Contribution[],
  precedence: Precedence,
  { isPatient, names, isWithdrawal = false }: Whose,
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
  // A withdrawal hides all that is older, and the status after it hides what the withdrawal stated itself.
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
    : !isWithdrawal && isHidden(precedence, before) && isSameTime(precedence, before);
  return { content: settled(next, state, isPatient), remembered: state, isStale, isTied };
}

/** In the order in which they are first named. */
function byElement(contributions: readonly Contribution[]): Map<string, Contribution[]> {
  const found = new Map<string, Contribution[]>();
  for (const said of contributions) found.set(said.element, [...(found.get(said.element) ?? []), said]);
  return found;
}

/** Of several values for one element of one message the last counts. */
function lastOf(said: readonly Contribution[]): Contribution[] {
  const last = said.findLast(({ isDefault }) => isDefault !== true);
  return said.filter((each) => each === last || each.isDefault === true);
}

/** @returns whether a value was left out though it would have changed something */
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
  const tried = { ...record.content };
  writeElement(tried, element, leftOut.value);
  return elementText(tried, element) !== elementText(record.content, element);
}

const elementText = (content: JsonObject, element: string): string => sortedJson(readElement(content, element) ?? null);

/** The items, as texts, of lists that `union` made: thousands of OBR may add to one report, each to the list of the last. */
const ITEMS = new WeakMap<readonly Json[], Set<string>>();

export function union(stored: Json | undefined, sent: Json): Json[] {
  const old = Array.isArray(stored) ? stored : [];
  const known = ITEMS.get(old) ?? new Set(old.map(sortedJson));
  // The set goes with the new list: what it gets now is not in the old one.
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
 * Another document has taken its place: it stays superseded whatever is said of it later, unless it was entered in error.
 *
 * @param order of the message that says so; a FHIR client may set it right after that
 */
export function supersede(content: JsonObject, remembered: Remembered, precedence: Precedence): Applied {
  const registers = new Map(remembered.registers);
  registers.set(REPLACED, { precedence: later(precedence, registers.get(REPLACED)?.precedence ?? ''), held: null });
  const state = { ...remembered, registers };
  return { content: settled({ ...content }, state, false), remembered: state, isStale: false, isTied: false };
}

/** What follows from other elements, whichever was said first. Alters and returns `content`. */
export function settled(content: JsonObject, remembered: Remembered, isPatient: boolean): JsonObject {
  const replaced = remembered.registers.get(REPLACED)?.precedence;
  if (replaced !== undefined && replaced >= stampOf(remembered, 'status') && content['status'] !== 'entered-in-error') {
    content['status'] = 'superseded';
    delete content['_status'];
  }
  // A patient that was merged into another is not in use, whatever a late message says of it (FHIR R4, Patient.link).
  if (isPatient && isMergedAway(content)) content['active'] = false;
  return content;
}

function isMergedAway({ link }: JsonObject): boolean {
  return Array.isArray(link) && link.some((item) => isJsonObject(item) && item['type'] === 'replaced-by');
}
