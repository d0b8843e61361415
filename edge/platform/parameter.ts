/** Prints parameters as text for PostgreSQL, so that every driver sends the same. */
import type { Param } from '../deps.ts';

/** Characters that an array literal escapes. */
const ESCAPED = /["\\]/;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += HEX[byte];
  return out;
}

/** Arrays become PostgreSQL array literals, bytes become hex. */
export function parameter(value: Param): string | null {
  if (value instanceof Uint8Array) return `\\x${hex(value)}`;
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  if (value.length === 0) return '{}';
  const items = value.some((item) => ESCAPED.test(item))
    ? value.map((item) => item.replaceAll(/["\\]/g, '\\$&'))
    : value;
  return `{"${items.join('","')}"}`;
}
