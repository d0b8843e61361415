/**
 * What a message says, put into what is stored, each register for itself: the newer statement holds, whichever came first;
 * an older one fills what nobody newer has valued (edge/README.md, HL7 v2). An element that was sent replaces the stored
 * one, one that was not sent stays, `""` deletes it (HL7 v2.5.1 §2.5.3). Pure.
 */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Contribution } from '../mapping/field-map.ts';
import { readElement, setOrDelete, writeElement } from './element.ts';
import { changeIdentifiers } from './identifiers.ts';
import { changeList, isList } from './list.ts';
import { asDefault, type Order } from './order.ts';
import { later, stampOf, type Register, type Remembered } from './registers.ts';

export interface Said {
  /** Members without resourceType, id and meta. */
  readonly content: JsonObject;
  readonly remembered: Remembered;
  /** Something that would have changed the resource was left out, because something newer is known. */
  readonly isStale: boolean;
}

/** What besides the statement decides how it is applied. */
export interface Whose {
  /** Its lists are put together from several fields and what FHIR clients added; of others a list is like any element. */
  readonly isPatient: boolean;
  /** System URIs of assigning authorities, by their names in capitals. */
  readonly names: ReadonlyMap<string, string>;
}

/** @param content of the resource; not altered */
export function applyInOrder(
  content: JsonObject,
  remembered: Remembered,
  contributions: readonly Contribution[],
  order: Order,
  { isPatient, names }: Whose,
): Said {
  const next = { ...content };
  const registers = new Map(remembered.registers);
  const state: Remembered = { ...remembered, registers };
  let isStale = false;
  for (const [element, said] of byElement(contributions)) {
    const stored = next[element];
    const list = Array.isArray(stored) ? stored : [];
    if (isPatient && element === 'identifier' && said.every(({ adds }) => adds !== true)) {
      const change = changeIdentifiers(list, state, said, order, names);
      registers.clear();
      for (const [name, register] of change.registers) registers.set(name, register);
      setOrDelete(next, element, change.items);
    } else if (isPatient && isList(element)) {
      const change = changeList(list, state, element, said, order);
      for (const [name, register] of change.registers) registers.set(name, register);
      setOrDelete(next, element, change.items);
      isStale ||= change.isStale;
    } else {
      for (const each of lastOf(said)) isStale = changeElement(next, state, registers, each, order) || isStale;
    }
  }
  return { content: settled(next, state, isPatient), remembered: state, isStale };
}

/** In the order in which they are first named. */
function byElement(contributions: readonly Contribution[]): Map<string, Contribution[]> {
  const found = new Map<string, Contribution[]>();
  for (const said of contributions) found.set(said.element, [...(found.get(said.element) ?? []), said]);
  return found;
}

/** Of several values for one element of one message the last counts. */
function lastOf(said: readonly Contribution[]): Contribution[] {
  const isValue = ({ adds, isDefault }: Contribution): boolean => adds !== true && isDefault !== true;
  const last = said.findLast(isValue);
  return said.filter((each) => each === last || !isValue(each));
}

/** @returns whether it was left out though it would have changed something */
function changeElement(
  content: JsonObject,
  remembered: Remembered,
  registers: Map<string, Register>,
  { element, value, adds, isDefault }: Contribution,
  given: Order,
): boolean {
  if (adds === true) {
    setOrDelete(content, element, union(content[element], value));
    return false;
  }
  const order = isDefault === true ? asDefault(given) : given;
  if (order >= orderOfElement(content, remembered, element)) {
    writeElement(content, element, value);
    registers.set(element, { order, held: null });
    return false;
  }
  if (isDefault === true) return false;
  const tried = { ...content };
  writeElement(tried, element, value);
  return sortedJson(tried) !== sortedJson(content);
}

/** What nobody has valued has none, and is filled by any. */
export function orderOfElement(content: JsonObject, remembered: Remembered, element: string): Order {
  const said = later(remembered.registers.get(element)?.order ?? '', stampOf(remembered, element));
  if (said !== '' || readElement(content, element) === undefined) return said;
  return remembered.base;
}

export function union(stored: Json | undefined, sent: Json): Json[] {
  const old = Array.isArray(stored) ? stored : [];
  const known = new Set(old.map(sortedJson));
  return [...old, ...(Array.isArray(sent) ? sent : []).filter((item) => !known.has(sortedJson(item)))];
}

/** The register of a document whose place another has taken (TXA-13 of an MDM T09 or T10). */
export const REPLACED = 'replaced';

/**
 * Another document has taken its place: it stays superseded whatever is said of it later, unless it was entered in error.
 *
 * @param order of the message that says so; a FHIR client may set it right after that
 */
export function supersede(content: JsonObject, remembered: Remembered, order: Order): Said {
  const registers = new Map(remembered.registers);
  registers.set(REPLACED, { order: later(order, registers.get(REPLACED)?.order ?? ''), held: null });
  const state = { ...remembered, registers };
  return { content: settled({ ...content }, state, false), remembered: state, isStale: false };
}

/** What follows from other elements, whichever was said first. Alters and returns `content`. */
export function settled(content: JsonObject, remembered: Remembered, isPatient: boolean): JsonObject {
  const replaced = remembered.registers.get(REPLACED)?.order;
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
