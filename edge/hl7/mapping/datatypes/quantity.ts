/**
 * NM, SN and NR as Quantity, Ratio and Range (v2-to-FHIR `NM[Quantity]`, `SN[Quantity]`, `SN[Ratio]`, `SN[Range]`,
 * `NR[Range]`), with the unit of OBX-6 (`CWE[Quantity]`). Numbers keep their digits: `1.50` stays `1.50`.
 */
import { ERROR_REASONS } from '../../../../shared/hl7/error-reason.ts';
import { locatePart, type Part } from '../../../../shared/hl7/value.ts';
import { JsonNumber, type Json, type JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { codingSystem } from '../tables/coding-systems.ts';
import { textOfConcept } from './cwe.ts';
import { code, members, plainTextOf, textOf } from './text.ts';

/** HL7 v2.5.1 §2.A.47 allows what JSON does not: a sign `+`, leading zeros, a point without digits on one side. */
const NM = /^([+-]?)(\d*)(?:\.(\d*))?$/;
/** FHIR R4 decimal: implementations need not keep more. */
const MAX_DIGITS = 18;

/** The number digit for digit; undefined for another text. Leading zeros and `+` are removed, trailing zeros stay. */
export function decimal(text: string): number | JsonNumber | undefined {
  const match = NM.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  if (digits.length + fraction.length > MAX_DIGITS) return undefined;
  const source = `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}`;
  const value = Number(source);
  return String(value) === source ? value : new JsonNumber(source);
}

/** `10^3/uL`, `x10^9/L`: a power of ten whose `^` the sender did not escape. Its last part alone would be another unit. */
function powerOfTen(part: Part | undefined): string | undefined {
  const [base, rest] = [textOf(part, 1), textOf(part, 2)];
  return base !== undefined && rest !== undefined && /^[x×*]?\s*10$/i.test(base) && /^[+-]?\d{1,2}\b/.test(rest)
    ? `${base}^${rest}`
    : undefined;
}

/** A unit for display. */
export const unitText = (part: Part | undefined): string | undefined => powerOfTen(part) ?? textOfConcept(part);

/** `unit`, `system` and `code` of a Quantity from OBX-6: rows 3 to 6 of `CWE[Quantity]`. */
export function unitOf(part: Part | undefined, context: MapContext): JsonObject {
  const power = powerOfTen(part);
  if (part !== undefined && power !== undefined) {
    note(context, 'W', '102', locatePart(part), ERROR_REASONS['unescaped-unit'], 'unescaped-unit');
    return { unit: power };
  }
  const value = code(plainTextOf(part, 1));
  const system = value === undefined ? undefined : codingSystem([textOf(part, 3), textOf(part, 14)], context);
  return {
    ...members({ unit: plainTextOf(part, 2) ?? value }),
    ...(value !== undefined && system !== undefined && { system, code: value }),
  };
}

const COMPARATORS: ReadonlySet<string> = new Set(['<', '<=', '>=', '>']);
const COMPARED = /^([<>]=?|[≤≥])\s*(\S+)$/;
const COMPARATOR_SIGNS: ReadonlyMap<string, string> = new Map([
  ['≤', '<='],
  ['≥', '>='],
]);

/**
 * A number in its written form, `5.6`, `<5` or `>= 10`, as a Quantity. Undefined for other texts, such as a titre or a range.
 *
 * @param unit as of `unitOf`
 */
export function writtenNumber(text: string, unit: JsonObject): JsonObject | undefined {
  const [, sign, number = text] = COMPARED.exec(text.trim()) ?? [];
  const value = decimal(number);
  if (value === undefined) return undefined;
  return { value, ...(sign !== undefined && { comparator: COMPARATOR_SIGNS.get(sign) ?? sign }), ...unit };
}

const ORIGINAL_TEXT = 'http://hl7.org/fhir/StructureDefinition/originalText';

/**
 * A structured numeric as `{ valueQuantity }`, `{ valueRatio }` or `{ valueRange }`; undefined for another one
 * (`OBX[Observation]` 19 to 24).
 */
export function structuredNumeric(part: Part, unit: JsonObject): JsonObject | undefined {
  const [sign = '', first = '', separator = '', second = ''] = [1, 2, 3, 4].map((number) => textOf(part, number));
  const low = decimal(first);
  const high = decimal(second);
  const hasSecond = separator !== '' || second !== '';
  if (sign !== '' && sign !== '=' && !COMPARATORS.has(sign)) return undefined;
  const comparator = COMPARATORS.has(sign) ? { comparator: sign } : {};

  if (separator === ':' || separator === '/') {
    if (low === undefined || high === undefined) return undefined;
    return { valueRatio: { numerator: { value: low, ...comparator, ...unit }, denominator: { value: high, ...unit } } };
  }
  if (separator === '-') {
    const lowEnd = low === undefined ? undefined : { value: low, ...unit };
    const highEnd = high === undefined ? undefined : { value: high, ...unit };
    const range = members({ low: lowEnd, high: highEnd });
    if (range === undefined || (first !== '' && low === undefined) || (second !== '' && high === undefined))
      return undefined;
    const reversed = low !== undefined && high !== undefined && Number(low) > Number(high);
    if (reversed) return undefined;
    const original = sign === '' ? {} : { extension: [{ url: ORIGINAL_TEXT, valueString: structuredText(part) }] };
    return { valueRange: { ...original, ...range } };
  }
  if (hasSecond || low === undefined) return undefined;
  return { valueQuantity: { value: low, ...comparator, ...unit } };
}

const SEPARATORS: ReadonlySet<string> = new Set(['-', '+', '/', '.', ':']);

/**
 * SN.1 to SN.4 with blanks between, as rows 19, 22 and 24 of `OBX[Observation]` combine them. Empty with another separator: in
 * `>^10^5` the sender forgot to escape the second ^.
 */
export function structuredText(part: Part, unit?: Json): string {
  const separator = textOf(part, 3);
  if (separator !== undefined && !SEPARATORS.has(separator)) return '';
  const pieces = [1, 2, 3, 4].map((number) => textOf(part, number));
  return [...pieces, typeof unit === 'string' ? unit : undefined].filter((piece) => piece !== undefined).join(' ');
}

/** `NR[Range]` 3 and 4. */
export function numericRange(part: Part, unit: JsonObject): JsonObject | undefined {
  const end = (number: number): JsonObject | undefined | null => {
    const text = textOf(part, number);
    if (text === undefined) return undefined;
    const value = decimal(text);
    return value === undefined ? null : { value, ...unit };
  };
  const low = end(1);
  const high = end(2);
  if (low === null || high === null) return undefined;
  if (low && high && Number(low['value']) > Number(high['value'])) return undefined;
  return members({ low, high });
}
