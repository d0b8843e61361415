/**
 * A list of a patient that several fields and FHIR clients feed: names, telecom, addresses. Each field has a register with its
 * newest items. The list consists of the registers and the additions of FHIR clients, so it is the same in any order of
 * arrival. Pure.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import { saidText } from './added-coding.ts';
import type { Contribution } from './contribution.ts';
import type { Precedence } from './precedence.ts';
import { placed } from './place.ts';
import { later, stampOf, type Register, type Remembered } from './registers.ts';

/** Decides whether two items are one thing in two states. */
type Sameness = (a: JsonObject, b: JsonObject) => boolean;

const text = (object: JsonObject, member: string): string => {
  const value = object[member];
  return typeof value === 'string' ? value : '';
};

/** A name without a use is the usual or the official one. */
const nameUse = (name: JsonObject): string =>
  ['usual', 'official'].includes(text(name, 'use')) ? '' : text(name, 'use');

const isEqual: Sameness = (a, b) => saidText(a) === saidText(b);

const SAME: ReadonlyMap<string, Sameness> = new Map<string, Sameness>([
  ['name', (a, b) => nameUse(a) === nameUse(b)],
  ['telecom', (a, b) => text(a, 'system') === text(b, 'system') && text(a, 'use') === text(b, 'use')],
  ['address', (a, b) => text(a, 'use') === text(b, 'use') && text(a, 'type') === text(b, 'type')],
  ['generalPractitioner', (a, b) => text(a, 'type') === text(b, 'type')],
  ['communication', isEqual],
  ['contact', isEqual],
]);

/** Checks whether an element of a Patient is a list of registers. */
export const isList = (element: string): boolean => SAME.has(element);

export interface ListChange {
  readonly items: Json[];
  readonly registers: readonly (readonly [name: string, register: Register])[];
  /** A contribution was skipped, because a newer statement is stored. */
  readonly isStale: boolean;
}

const nameOf = (element: string, field: string): string => `${element} ${field}`;

/**
 * Applies the fields of one message to one list.
 *
 * @param contributions to this element, of different fields; null for `""`
 */
export function changeList(
  stored: readonly Json[],
  remembered: Remembered,
  element: string,
  contributions: readonly Contribution[],
  precedence: Precedence,
): ListChange {
  const stamp = stampOf(remembered, element);
  const before = registersOf(remembered, element);
  const precedenceOfOthers = stamp === '' ? remembered.base : stamp;
  const others = othersIn(stored, remembered.registers.get(element), before, stamp);
  const gone =
    precedence < precedenceOfOthers ? [] : others.filter((item) => contributions.some(removes(element, item)));
  const staying = others.filter((item) => !gone.includes(item));

  const isNewer = ({ field }: Contribution): boolean =>
    precedence >= later(before.get(nameOf(element, field))?.precedence ?? '', stamp);
  const said = contributions.filter(isNewer).map(({ field, value }): [string, Register] => {
    return [nameOf(element, field), { precedence, held: Array.isArray(value) ? value : [] }];
  });
  const after = new Map([...before, ...said]);
  const ours = composed(stored, staying, after, { element, stamp, precedenceOfOthers });
  const items = placed(stored, staying, ours, stamp !== '');
  const left: [string, Register][] =
    others.length === 0 ? [] : [[element, { precedence: precedenceOfOthers, held: staying }]];
  const registers = [...said, ...left];
  return { items, registers, isStale: contributions.some((said) => !isNewer(said) && isMissing(said, items)) };
}

/**
 * The additions of FHIR clients. The first message about the list registers them, so that a message with an equal item does not
 * make it its own. Later changes of a client count.
 */
function othersIn(
  stored: readonly Json[],
  known: Register | undefined,
  registers: ReadonlyMap<string, Register>,
  stamp: Precedence,
): Json[] {
  const remembered = new Set(known === undefined ? [] : itemsOf(known).map(saidText));
  const isRemembered = (item: Json): boolean => remembered.has(saidText(item));
  if (known !== undefined && known.precedence >= stamp) return stored.filter(isRemembered);
  const ofFields = new Set([...registers.values()].flatMap(itemsOf).map(saidText));
  return stored.filter((item) => isRemembered(item) || !ofFields.has(saidText(item)));
}

interface Context {
  readonly element: string;
  readonly stamp: Precedence;
  readonly precedenceOfOthers: Precedence;
}

/**
 * The items of the registers in the order of their fields, without items that a FHIR client deleted or replaced by a better
 * one.
 */
function composed(
  stored: readonly Json[],
  others: readonly Json[],
  registers: ReadonlyMap<string, Register>,
  { element, stamp, precedenceOfOthers }: Context,
): Json[] {
  const standing = new Set(stored.map(saidText));
  const used = new Set(others.map(saidText));
  const ours: Json[] = [];
  for (const [, register] of [...registers].sort(([a], [b]) => byField(a, b))) {
    for (const item of itemsOf(register)) {
      const printed = saidText(item);
      const isDeleted = register.precedence < stamp && !standing.has(printed);
      const isKnownBetter =
        register.precedence < precedenceOfOthers && others.some((other) => isSame(element, other, item));
      if (used.has(printed) || isDeleted || isKnownBetter) continue;
      used.add(printed);
      ours.push(item);
    }
  }
  return ours;
}

function registersOf({ registers }: Remembered, element: string): ReadonlyMap<string, Register> {
  return new Map([...registers].filter(([name]) => name.startsWith(`${element} `)));
}

const itemsOf = ({ held }: Register): readonly Json[] => (Array.isArray(held) ? held : []);

/** `""` removes what the field owns: everything if no other field feeds the list. */
const removes =
  (element: string, item: Json) =>
  ({ value, owns }: Contribution): boolean => {
    if (Array.isArray(value)) return value.some((sent) => isSame(element, item, sent));
    return owns === undefined || (isJsonObject(item) && owns(item));
  };

function isSame(element: string, a: Json, b: Json): boolean {
  return isJsonObject(a) && isJsonObject(b) && SAME.get(element)?.(a, b) === true;
}

function isMissing({ value }: Contribution, items: readonly Json[]): boolean {
  const standing = new Set(items.map(saidText));
  return Array.isArray(value) ? value.some((item) => !standing.has(saidText(item))) : items.length > 0;
}

const SEGMENTS: readonly string[] = ['PID', 'PD1', 'NK1', 'MRG'];

/** `telecom PID-13` before `telecom PID-40`, PID before PD1. */
function byField(a: string, b: string): number {
  const [left, right] = [placeOf(a), placeOf(b)];
  return left.segment - right.segment || left.field - right.field || (a < b ? -1 : 1);
}

function placeOf(name: string): { segment: number; field: number } {
  const [, segment = '', field = ''] = / ([A-Z0-9]{3})(?:-(\d+))?$/.exec(name) ?? [];
  return { segment: SEGMENTS.indexOf(segment), field: Number(field) };
}
