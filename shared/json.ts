/**
 * JSON without loss (RFC 8259). A number that JavaScript would print with other digits is kept as its source text: `1.50`
 * has another precision than `1.5` (FHIR R4, Datatypes, decimal). Duplicate members are rejected, nesting is bounded.
 */
import { attempt, Fault } from './fault.ts';

/** A number whose source text differs from `String(Number(source))`: `1.50`, `1e2`, 18 digits. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  valueOf(): number {
    return Number(this.source);
  }
}

export interface JsonObject {
  [member: string]: Json;
}
export type Json = null | boolean | number | string | JsonNumber | Json[] | JsonObject;

/** Depth 64 is far above any resource (the R4 examples reach 13) and far below the stack's limit. */
export const MAX_JSON_DEPTH = 64;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// The fast path for a string: no escape, no control character (RFC 8259 §7).
// oxlint-disable-next-line no-control-regex
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Parses a JSON text.
 *
 * @param text the whole document; a byte order mark is rejected (RFC 8259 §8.1)
 * @throws Fault `malformed` with line and column
 */
export function parseJson(text: string, maxDepth: number = MAX_JSON_DEPTH): Json {
  let at = 0;

  const fail = (what: string): never => {
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    throw new Fault('malformed', `not valid JSON: ${what} at line ${line}, column ${column}`);
  };

  const skipSpace = (): void => {
    for (;;) {
      const c = text.charCodeAt(at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      at += 1;
    }
  };

  const readString = (): string => {
    at += 1;
    let out = '';
    for (;;) {
      PLAIN.lastIndex = at;
      PLAIN.test(text);
      const end = PLAIN.lastIndex;
      const plain = text.slice(at, end);
      at = end;
      const c = text.charAt(at);
      if (c === '"') {
        at += 1;
        return out === '' ? plain : out + plain;
      }
      if (c === '') return fail('the text ends inside a string');
      if (c !== '\\') return fail('a control character in a string');
      out += plain + readEscape();
    }
  };

  const readEscape = (): string => {
    const c = text.charAt(at + 1);
    if (c === 'u') {
      const hex = text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) return fail('a bad \\u escape');
      at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES[c];
    if (plain === undefined) return fail('an unknown escape');
    at += 2;
    return plain;
  };

  const readNumber = (): number | JsonNumber => {
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) return fail('an unexpected character');
    const source = text.slice(at, NUMBER.lastIndex);
    at = NUMBER.lastIndex;
    const value = Number(source);
    return String(value) === source ? value : new JsonNumber(source);
  };

  const readWord = <T extends boolean | null>(word: string, value: T): T => {
    if (!text.startsWith(word, at)) return fail('an unexpected character');
    at += word.length;
    return value;
  };

  const readArray = (depth: number): Json[] => {
    const out: Json[] = [];
    at += 1;
    skipSpace();
    if (text.charCodeAt(at) === 0x5d) {
      at += 1;
      return out;
    }
    for (;;) {
      out.push(readValue(depth));
      skipSpace();
      const c = text.charCodeAt(at);
      if (c !== 0x2c && c !== 0x5d) return fail('expected "," or "]"');
      at += 1;
      if (c === 0x5d) return out;
    }
  };

  const readObject = (depth: number): JsonObject => {
    const out: JsonObject = {};
    at += 1;
    skipSpace();
    if (text.charCodeAt(at) === 0x7d) {
      at += 1;
      return out;
    }
    for (;;) {
      skipSpace();
      if (text.charCodeAt(at) !== 0x22) return fail('expected a member name');
      const name = readString();
      if (Object.hasOwn(out, name)) return fail('a member name given twice');
      skipSpace();
      if (text.charCodeAt(at) !== 0x3a) return fail('expected ":"');
      at += 1;
      const value = readValue(depth);
      if (name === '__proto__') {
        Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
      } else {
        out[name] = value;
      }
      skipSpace();
      const c = text.charCodeAt(at);
      if (c !== 0x2c && c !== 0x7d) return fail('expected "," or "}"');
      at += 1;
      if (c === 0x7d) return out;
    }
  };

  const readValue = (depth: number): Json => {
    skipSpace();
    const c = text.charCodeAt(at);
    if (c === 0x22) return readString();
    if (c === 0x7b || c === 0x5b) {
      if (depth >= maxDepth) return fail(`nesting beyond ${maxDepth} levels`);
      return c === 0x7b ? readObject(depth + 1) : readArray(depth + 1);
    }
    if (c === 0x74) return readWord('true', true);
    if (c === 0x66) return readWord('false', false);
    if (c === 0x6e) return readWord('null', null);
    return readNumber();
  };

  const value = readValue(0);
  skipSpace();
  if (at < text.length) fail('text after the end of the document');
  return value;
}

/** Like `parseJson`, but returns undefined for a text that is not JSON. */
export const jsonIn = (text: string): Json | undefined => attempt(() => parseJson(text));

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** The objects of a list; other entries are skipped, and any other value has none. */
export const objectsOf = (list: Json | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];

/** Prints a value compactly. Kept numbers are printed digit for digit, members that are `undefined` are left out. */
export function printJson(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof JsonNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  return `{${printMembers(value)}}`;
}

/** Prints the members of an object without the braces, so that a caller can add members before or after them. */
export function printMembers(object: JsonObject): string {
  const out: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) out.push(`${JSON.stringify(name)}:${printJson(value)}`);
  }
  return out.join(',');
}

/** Like `printJson`, but sorts the members of every object: equal values print as equal texts. */
export function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (!isJsonObject(value)) return printJson(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${sortedJson(value[name] ?? null)}`).join(',')}}`;
}
