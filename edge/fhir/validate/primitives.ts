/**
 * The formats of the primitive types (FHIR R4, Datatypes §2.24.0.1): a table from type to JSON type and check. The walker
 * decides whether a value may be missing or null.
 */
import { JsonNumber, type Json } from '../../../shared/json.ts';
import { isDay, TIME_ZONE } from './moment.ts';
import { checkXhtml } from './xhtml.ts';

/** A primitive type: its JSON type, and the problem of a text or a number's digits, if it has one. */
export interface Primitive {
  readonly json: 'boolean' | 'number' | 'string';
  readonly check: (text: string) => string | undefined;
  /** The form of every valid text; a text of this form may still be invalid (the 30th of February). */
  readonly format?: RegExp;
  /** The least and the greatest integer. */
  readonly range?: { readonly from: number; readonly to: number };
}

/** R4: "strings SHALL NOT exceed 1MB (1024*1024 characters)". */
const MAX_STRING_CHARACTERS = 1024 * 1024;
const MAX_INTEGER = 2_147_483_647;

// Control characters beside tab, line feed and carriage return; a surrogate sends the text to the slower check.
// oxlint-disable-next-line no-control-regex
const SUSPECT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff]/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** R4's rules for every string: content, no control characters, only characters that UTF-8 can encode. */
export function checkText(text: string): string | undefined {
  if (text.charCodeAt(0) > 0x20 ? false : text.trim() === '') return 'must not be empty or only white space';
  if (text.length > MAX_STRING_CHARACTERS) return 'is longer than 1048576 characters';
  if (!SUSPECT.test(text)) return undefined;
  if (CONTROL.test(text)) return 'holds a control character';
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair';
}

function text(check: Primitive['check']): Primitive {
  return { json: 'string', check };
}

function pattern(format: RegExp, expected: string): Primitive {
  return { ...text((value) => (format.test(value) ? undefined : `must be ${expected}`)), format };
}

/** A pattern that does not itself exclude control characters. */
function textual(format: RegExp, expected: string): Primitive {
  return { ...text((value) => checkText(value) ?? (format.test(value) ? undefined : `must be ${expected}`)), format };
}

function day(format: RegExp, expected: string): Primitive {
  return { ...text((value) => (format.test(value) && isDay(value) ? undefined : `must be ${expected}`)), format };
}

function integer(from: number, to: number): Primitive {
  const message = `must be a whole number from ${from} to ${to}, without fraction or exponent`;
  return {
    json: 'number',
    range: { from, to },
    check: (digits) => {
      if (!/^(?:0|-?[1-9][0-9]{0,9})$/.test(digits)) return message;
      const value = Number(digits);
      return value >= from && value <= to ? undefined : message;
    },
  };
}

// RFC 4648 §4 with the white space that R4 allows; no repeated group, which a megabyte of data would make recursive.
function checkBase64(value: string): string | undefined {
  const message = 'must be base64 (RFC 4648 §4), padded';
  const digits = /\s/.test(value) ? value.replace(/\s+/g, '') : value;
  if (digits === '' || digits.length % 4 !== 0) return message;
  const padding = digits.indexOf('=');
  const end = padding === -1 ? digits.length : padding;
  if (digits.length - end > 2 || /[^A-Za-z0-9+/]/.test(digits.slice(0, end))) return message;
  return /[^=]/.test(digits.slice(end)) ? message : undefined;
}

const YEAR = '(?!0000)[0-9]{4}';
const DATE = `${YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])`;
const CLOCK = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?';
const PARTIAL = `${YEAR}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01])`;

const uri = textual(/^\S+$/, 'a URI without white space');
const string = text(checkText);

/** By the name of the type. */
export const PRIMITIVES: Readonly<Record<string, Primitive>> = {
  boolean: { json: 'boolean', check: () => undefined },
  integer: integer(-MAX_INTEGER - 1, MAX_INTEGER),
  unsignedInt: integer(0, MAX_INTEGER),
  positiveInt: integer(1, MAX_INTEGER),
  decimal: {
    json: 'number',
    check: (digits) => (Number.isFinite(Number(digits)) ? undefined : 'must be a decimal below 1.8e308'),
  },
  string,
  markdown: string,
  uri,
  url: uri,
  canonical: uri,
  code: textual(/^\S+(?: \S+)*$/, 'a code: no leading, trailing or repeated white space'),
  id: pattern(/^[A-Za-z0-9.-]{1,64}$/, 'an id: 1 to 64 of A-Z a-z 0-9 - .'),
  oid: pattern(/^urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+$/, 'an OID such as urn:oid:1.2.3'),
  uuid: pattern(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'a UUID such as urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
  ),
  base64Binary: text(checkBase64),
  // oxlint-disable-next-line gateway/linear-expression -- parts of fixed lengths, and one run of digits
  date: day(new RegExp(`^${PARTIAL})?)?$`), 'a date: YYYY, YYYY-MM or YYYY-MM-DD, of the calendar'),
  dateTime: day(
    // oxlint-disable-next-line gateway/linear-expression -- parts of fixed lengths, and one run of digits
    new RegExp(`^${PARTIAL}(?:T${CLOCK}${TIME_ZONE})?)?)?$`),
    'a dateTime: YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with a time zone, of the calendar',
  ),
  // oxlint-disable-next-line gateway/linear-expression -- parts of fixed lengths, and one run of digits
  instant: day(new RegExp(`^${DATE}T${CLOCK}${TIME_ZONE}$`), 'an instant: YYYY-MM-DDThh:mm:ss with a time zone'),
  // oxlint-disable-next-line gateway/linear-expression -- parts of fixed lengths, and one run of digits
  time: pattern(new RegExp(`^${CLOCK}$`), 'a time: hh:mm:ss'),
  xhtml: text(checkXhtml),
};

/** The text to check of a value of this primitive type, or undefined when JSON writes it otherwise. */
export function textOf(value: Json, json: Primitive['json']): string | undefined {
  if (typeof value === 'string') return json === 'string' ? value : undefined;
  if (typeof value === 'boolean') return json === 'boolean' ? '' : undefined;
  if (json !== 'number') return undefined;
  if (typeof value === 'number') return String(value);
  return value instanceof JsonNumber ? value.source : undefined;
}
