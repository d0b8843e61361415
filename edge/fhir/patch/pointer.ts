/** JSON Pointer (RFC 6901): the place in a document at which an operation of a patch works. */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';

/** Its reference tokens, unescaped; none: the whole document. */
export type Pointer = readonly string[];

/** Any number of `/` and a token, in which each `~` is followed by 0 or 1 (RFC 6901 §3). */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
/** Digits without leading zeros (RFC 6901 §4); 16 of them are beyond any array. */
const INDEX = /^(?:0|[1-9][0-9]{0,14})$/;

/** @returns undefined for an invalid pointer */
export function readPointer(text: string): Pointer | undefined {
  if (!POINTER.test(text)) return undefined;
  // `~01` is `~1`, so `~1` is replaced first (RFC 6901 §4).
  return text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The position in an array; undefined for other tokens, and for `-`, the position after the last item. */
export const indexOf = (token: string): number | undefined => (INDEX.test(token) ? Number(token) : undefined);

/** The child of an object or an array; undefined where it does not exist. */
export function childAt(parent: Json, token: string): Json | undefined {
  if (Array.isArray(parent)) {
    const index = indexOf(token);
    return index === undefined ? undefined : parent[index];
  }
  return isJsonObject(parent) && Object.hasOwn(parent, token) ? parent[token] : undefined;
}

/** The value at a pointer; undefined where it does not exist. */
export function valueAt(document: Json, pointer: Pointer): Json | undefined {
  let at: Json | undefined = document;
  for (const token of pointer) at = at === undefined ? undefined : childAt(at, token);
  return at;
}

/**
 * The document with one container changed, which shares the rest with the original. Nothing changes in place, so a copied
 * value does not change with its source.
 *
 * @param change returns the changed container of the pointer's last token; undefined: the change is impossible
 * @returns undefined where the container does not exist, or the change is impossible
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
