/** Reads the operations of a JSON Patch document (RFC 6902 §3, §4), whose other members are ignored. */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../../shared/json.ts';
import { Budget } from '../../limits.ts';
import { MAX_ISSUES } from '../validate/findings.ts';
import { type Pointer, readPointer } from './pointer.ts';

export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: Json }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly path: Pointer; readonly from: Pointer };

const OPS = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const;

function pointerOf(operation: JsonObject, name: 'path' | 'from'): Pointer | string {
  const text = operation[name];
  if (text === undefined) return `needs the member ${name}`;
  const pointer = typeof text === 'string' ? readPointer(text) : undefined;
  // No resource is deeper. A patch must not build a value that is too deep to walk.
  if (pointer !== undefined && pointer.length > MAX_JSON_DEPTH)
    return `has a ${name} of more than ${MAX_JSON_DEPTH} levels`;
  return pointer ?? `has a ${name} that is not a JSON Pointer (RFC 6901): it must be '' or begin with /`;
}

/** @returns the operation, or its problem as the end of a sentence that begins with "the operation" */
function operationOf(operation: Json): Operation | string {
  if (!isJsonObject(operation)) return 'must be a JSON object';
  const op = OPS.find((one) => one === operation['op']);
  if (op === undefined) return `must have op, one of ${OPS.join(', ')}`;
  const path = pointerOf(operation, 'path');
  if (typeof path === 'string') return path;
  if (op === 'remove') return { op, path };
  if (op === 'move' || op === 'copy') {
    const from = pointerOf(operation, 'from');
    if (typeof from === 'string') return from;
    const isInside = op === 'move' && from.length < path.length && from.every((token, n) => token === path[n]);
    return isInside ? 'cannot move a value into itself' : { op, path, from };
  }
  const { value } = operation;
  return value === undefined ? 'needs the member value' : { op, path, value };
}

/** @throws Fault `malformed` with an issue for each invalid operation, `invalid` for too many operations */
export function readOperations(content: Json): Operation[] {
  if (!Array.isArray(content)) {
    const message = 'a JSON Patch is an array of operations (RFC 6902 §3)';
    throw new Fault('malformed', message, { code: 'structure' });
  }
  new Budget().spend('patch-operations', content.length);
  const operations: Operation[] = [];
  const issues: Issue[] = [];
  for (const [index, one] of content.entries()) {
    const operation = operationOf(one);
    if (typeof operation !== 'string') operations.push(operation);
    else issues.push({ code: 'structure', message: `the operation at index ${index} ${operation}` });
  }
  if (issues.length > 0)
    throw new Fault('malformed', 'the JSON Patch cannot be read', { issues: issues.slice(0, MAX_ISSUES) });
  return operations;
}
