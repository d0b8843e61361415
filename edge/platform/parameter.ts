/** Prints parameters as text for PostgreSQL, so that every driver sends the same. */
import type { Param } from '../deps.ts';

/** Characters that an array literal escapes. */
const ESCAPED = /["\\]/;

const DIGITS = new TextEncoder().encode('0123456789abcdef');

/** In one buffer: a text that grows by each byte would need many times its size. */
function hex(bytes: Uint8Array): string {
  const out = new Uint8Array(2 * bytes.length);
  bytes.forEach((byte, at) => {
    out[2 * at] = DIGITS[byte >> 4] ?? 0;
    out[2 * at + 1] = DIGITS[byte & 15] ?? 0;
  });
  return new TextDecoder().decode(out);
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
