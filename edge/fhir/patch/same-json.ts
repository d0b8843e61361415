/** Equality of JSON values for `test` (RFC 6902 §4.6): numbers are compared by value, not by their digits. */
import { isJsonObject, type Json, JsonNumber } from '../../../shared/json.ts';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** One text for each value: `-0.150e2` is `-15e0`. */
function canonicalNumber(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = withoutZerosAtEnd(digits);
  if (kept === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - kept.length);
  // Beyond exact integers, only equal digits are equal.
  return Number.isSafeInteger(power) ? `${sign}${kept}e${power}` : source;
}

const isNumber = (value: Json): value is number | JsonNumber =>
  typeof value === 'number' || value instanceof JsonNumber;
const sourceOf = (value: number | JsonNumber): string => (typeof value === 'number' ? String(value) : value.source);

export function isSameJson(a: Json, b: Json): boolean {
  if (isNumber(a) || isNumber(b))
    return isNumber(a) && isNumber(b) && canonicalNumber(sourceOf(a)) === canonicalNumber(sourceOf(b));
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameJson(item, b[index] ?? null));
  }
  if (!isJsonObject(a)) return a === b;
  if (!isJsonObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name] ?? null, b[name] ?? null))
  );
}
