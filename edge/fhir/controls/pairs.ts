/** The parameters of a query: of a URL, a form, a condition, or an entry of a Bundle (FHIR R4 search, 3.1.1.1; RFC 3986 §2.5). */
import { Fault } from '../../../shared/fault.ts';
import type { Pair } from './faults.ts';

const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;

function isUtf8(escapes: string): boolean {
  try {
    decodeURIComponent(escapes);
    return true;
  } catch {
    return false;
  }
}

/**
 * URLSearchParams replaces escapes that are not UTF-8, as those of ISO-8859-1, and halves of surrogate pairs. Then a search
 * would miss the resource, and a conditional write would create it again.
 *
 * @throws Fault `malformed`
 */
export function requireUtf8(query: string): void {
  if (query.isWellFormed() && (query.match(ESCAPES) ?? []).every(isUtf8)) return;
  const message = 'A parameter is not UTF-8: escape the bytes of UTF-8, such as %C3%A9 instead of %E9.';
  throw new Fault('malformed', message, { code: 'value' });
}

/** @throws Fault as `requireUtf8` */
export function pairsOf(query: string): Pair[] {
  requireUtf8(query);
  return [...new URLSearchParams(query)];
}
