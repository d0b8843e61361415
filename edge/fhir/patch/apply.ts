/**
 * Applies a JSON Patch (RFC 6902 §4, §5): one operation after the other, all or none. Numbers keep their digits, because each
 * value keeps its source text.
 */
import { Fault } from '../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../../shared/json.ts';
import { Budget } from '../../limits.ts';
import type { Operation } from './operations.ts';
import { changedAt, childAt, indexOf, type Pointer, valueAt } from './pointer.ts';
import { isSameJson } from './same-json.ts';

type Container = Json[] | JsonObject;

/** The work of copying a member of an object, in items of an array. */
const ITEMS_OF_A_MEMBER = 64;

/** The items that a change at the pointer copies. */
function copiedItems(document: Json, pointer: Pointer): number {
  let at: Json | undefined = document;
  let items = 0;
  for (const token of pointer) {
    if (Array.isArray(at)) items += at.length;
    else if (isJsonObject(at)) items += Object.keys(at).length * ITEMS_OF_A_MEMBER;
    else break;
    at = childAt(at, token);
  }
  return items;
}

function added(container: Container, token: string, value: Json): Json | undefined {
  if (!Array.isArray(container)) return { ...container, [token]: value };
  const index = token === '-' ? container.length : indexOf(token);
  return index === undefined || index > container.length ? undefined : container.toSpliced(index, 0, value);
}

function removed(container: Container, token: string): Json | undefined {
  if (childAt(container, token) === undefined) return undefined;
  if (Array.isArray(container)) return container.toSpliced(Number(token), 1);
  const { [token]: _, ...rest } = container;
  return rest;
}

function replaced(container: Container, token: string, value: Json): Json | undefined {
  if (childAt(container, token) === undefined) return undefined;
  return Array.isArray(container) ? container.with(Number(token), value) : { ...container, [token]: value };
}

const add = (document: Json, path: Pointer, value: Json): Json | undefined =>
  path.length === 0 ? value : changedAt(document, path, (container, token) => added(container, token, value));
const remove = (document: Json, path: Pointer): Json | undefined => changedAt(document, path, removed);
const replace = (document: Json, path: Pointer, value: Json): Json | undefined =>
  path.length === 0 ? value : changedAt(document, path, (container, token) => replaced(container, token, value));

/** Spends the characters and values of a value. */
function carry(value: Json, budget: Budget, depth = 0): void {
  // A value that is too deep is never carried; a copy into itself doubles it.
  if (depth > MAX_JSON_DEPTH) budget.spend('patch-carried', Infinity);
  budget.spend('patch-carried', typeof value === 'string' ? value.length + 1 : 1);
  if (Array.isArray(value)) for (const item of value) carry(item, budget, depth + 1);
  else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      budget.spend('patch-carried', name.length);
      carry(item, budget, depth + 1);
    }
  }
}

/**
 * @param document the resource; it stays unchanged
 * @param budget the budget of the request, which may have several patches
 * @throws Fault `invalid` (422; FHIR R4 http, 3.1.0.6) for the first operation that is impossible, or a `test` that fails.
 *   The message has no value of the resource.
 */
export function applyPatch(document: Json, operations: readonly Operation[], budget = new Budget()): Json {
  let result = document;
  const done = (operation: Operation): Json | undefined => {
    const { path } = operation;
    switch (operation.op) {
      case 'add':
        return add(result, path, operation.value);
      case 'remove':
        return remove(result, path);
      case 'replace':
        return replace(result, path, operation.value);
      case 'test':
        return result;
      case 'move':
      case 'copy': {
        const value = valueAt(result, operation.from);
        if (value === undefined) return undefined;
        const rest = operation.op === 'copy' || path.length === 0 ? result : remove(result, operation.from);
        return rest === undefined ? undefined : add(rest, path, value);
      }
    }
  };
  for (const [index, operation] of operations.entries()) {
    const { op, path } = operation;
    const refuse = (what: string, code: string): Fault =>
      new Fault('invalid', `the operation at index ${index} (${op}) ${what}; nothing was patched`, { code });
    if (op === 'test') {
      const value = valueAt(result, path);
      if (value !== undefined && isSameJson(value, operation.value)) continue;
      throw refuse('fails: the resource has another value at this place, or no value', 'conflict');
    }
    if (op === 'move' || op === 'copy') carry(valueAt(result, operation.from) ?? null, budget);
    budget.spend('patch-copies', copiedItems(result, path));
    if ('from' in operation) budget.spend('patch-copies', copiedItems(result, operation.from));
    const changed = done(operation);
    if (changed === undefined) throw refuse('is impossible: the resource has no value at this place', 'processing');
    result = changed;
  }
  return result;
}
