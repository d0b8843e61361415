/** One random change of a JSON value, made in place: for properties that apply to any input of a client. */
import fc from 'fast-check';

import { isJsonObject, JsonNumber, type Json, type JsonObject } from '../../shared/json.ts';

const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  new JsonNumber('1.0'),
  new JsonNumber('1e400'),
  '',
  ' ',
  'x',
  '#x',
  '2001-02-30',
  '<div>',
  [],
  {},
  [[]],
  [null],
  ['x'],
  [{}],
  { id: 'x' },
  { reference: 1 },
  { toString: 1, valueOf: 2, constructor: 3 },
];
const NAMES = [
  'x',
  '_x',
  'id',
  'extension',
  'valueString',
  'code',
  'contained',
  'resourceType',
  'text',
  'toString',
  '__proto__',
];

const kind = fc.constantFrom('delete', 'set', 'rename', 'sibling', 'wrap', 'unwrap', 'repeat');

/** A change: what to do at which place, counted over all members and items, with which value and name. */
export const mutation = fc.record({
  kind,
  place: fc.nat(),
  value: fc.constantFrom(...VALUES),
  name: fc.constantFrom(...NAMES),
});
export type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

interface Slot {
  readonly holder: Json[] | JsonObject;
  readonly key: string;
}

function slotsOf(value: Json): Slot[] {
  if (!Array.isArray(value) && !isJsonObject(value)) return [];
  const holder = value;
  return Object.entries(value).flatMap(([key, below]) => [{ holder, key }, ...slotsOf(below)]);
}

function put(holder: Json[] | JsonObject, key: string, value: Json): void {
  // Not by assignment: a member of the name __proto__ would vanish.
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function remove(holder: Json[] | JsonObject, key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function copy(value: Json): Json {
  if (Array.isArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, copy(below)]));
}

/** Alters the value in place; leaves it when the change does not fit the place. */
export function mutate(root: Json, { kind, place, value, name }: Mutation): void {
  const slots = slotsOf(root);
  const slot = slots[place % slots.length];
  if (slot === undefined) return;
  const { holder, key } = slot;
  const old = Object.entries(holder).find(([member]) => member === key)?.[1] ?? null;
  const rename = (to: string): void => {
    if (Array.isArray(holder)) return;
    remove(holder, key);
    put(holder, to, old);
  };
  const changes: Readonly<Record<Mutation['kind'], () => void>> = {
    delete: () => remove(holder, key),
    set: () => put(holder, key, copy(value)),
    rename: () => rename(name),
    sibling: () => rename(`_${key}`),
    wrap: () => put(holder, key, [old]),
    unwrap: () => put(holder, key, Array.isArray(old) ? (old[0] ?? null) : old),
    repeat: () => {
      if (Array.isArray(holder)) holder.push(copy(old));
    },
  };
  changes[kind]();
}
