/** JSON Pointer (RFC 6901): where in a document an operation of a patch is at work. */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';

/** Its reference tokens, unescaped; none: the whole document. */
export type Pointer = readonly string[];

/** Any number of `/` and a token, in which `~` only stands as `~0` or `~1` (RFC 6901 §3). */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
/** Digits without leading zeros (RFC 6901 §4); 16 of them are beyond any array. */
const INDEX = /^(?:0|[1-9][0-9]{0,14})$/;

/** @returns undefined for what is no pointer */
export function readPointer(text: string): Pointer | undefined {
  if (!POINTER.test(text)) return undefined;
  // `~01` is `~1`, so `~1` goes first (RFC 6901 §4).
  return text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The position in an array; undefined where a token is none, or `-`, which is behind the last. */
export const indexOf = (token: string): number | undefined => (INDEX.test(token) ? Number(token) : undefined);

/** The child of an object or an array; undefined where there is none. */
export function childAt(parent: Json, token: string): Json | undefined {
  if (Array.isArray(parent)) {
    const index = indexOf(token);
    return index === undefined ? undefined : parent[index];
  }
  return isJsonObject(parent) && Object.hasOwn(parent, token) ? parent[token] : undefined;
}

/** What stands there; undefined where nothing does. */
export function valueAt(document: Json, pointer: Pointer): Json | undefined {
  let at: Json | undefined = document;
  for (const token of pointer) at = at === undefined ? undefined : childAt(at, token);
  return at;
}

/**
 * The document with one container changed, the rest shared with it: nothing is changed in place, so what was copied does
 * not change with its source.
 *
 * @param change the object or array that the pointer's last token is about, as it becomes; undefined: it cannot be
 * @returns undefined where there is no such container, or it cannot be changed so
 */
export function changedAt(
  document: Json,
  pointer: Pointer,
  change: (container: Json[] | JsonObject, token: string) => Json | undefined,
): Json | undefined {
  const [token, ...rest] = pointer;
  if (token === undefined || !(Array.isArray(document) || isJsonObject(document))) return undefined;
  if (rest.length === 0) return change(document, token);
  const child = childAt(document, token);
  const changed = child === undefined ? undefined : changedAt(child, rest, change);
  if (changed === undefined) return undefined;
  return Array.isArray(document) ? document.with(Number(token), changed) : { ...document, [token]: changed };
}
