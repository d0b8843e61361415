/**
 * Long texts in the JSON of Neon's HTTP requests and answers. A document of 10 MiB would otherwise be in memory several times: as
 * a value, in the text of the JSON, and as its bytes.
 */
import type { Param } from '../deps.ts';
import { piecesOf } from '../http/paged-stream.ts';
import { parameter } from './parameter.ts';

/** A longer parameter is kept apart, a longer item of an array, and a longer value of an answer. */
const [LONG_PARAM, LONG_ITEM, LONG_VALUE] = [64 * 1024, 1024, 1024];

const encoder = new TextEncoder();

/** A text with these would be escaped in an array literal of PostgreSQL. */
const ESCAPED = /["\\]/;
/** Characters that JSON may escape. Base64 has none, and needs no copy. */
const ESCAPED_IN_JSON = /[^ !#-[\]-~]/;

/** The parameters of a request. In its JSON a mark stands for each long text. */
export interface LongParams {
  readonly print: (param: Param) => string | null;
  /** The JSON with the long texts, in UTF-8 if there are any. */
  readonly fill: (json: string) => string | Uint8Array<ArrayBuffer>;
}

export function createLongParams(): LongParams {
  const long: string[] = [];
  let name: string | undefined;
  const marked = (text: string): string => `${(name ??= crypto.randomUUID())}(${long.push(text) - 1})`;
  const isLong = (item: string): boolean => item.length > LONG_ITEM;

  function* pieces([first = '', ...rest]: readonly string[]): Generator<string, undefined> {
    yield* piecesOf(first);
    for (const part of rest) {
      const end = part.indexOf(')');
      for (const piece of piecesOf(long[Number(part.slice(0, end))] ?? ''))
        yield ESCAPED_IN_JSON.test(piece) ? JSON.stringify(piece).slice(1, -1) : piece;
      yield* piecesOf(part.slice(end + 1));
    }
  }

  return {
    print(param) {
      if (Array.isArray(param) && param.some(isLong))
        return parameter(param.map((item) => (isLong(item) && !ESCAPED.test(item) ? marked(item) : item)));
      const text = parameter(param);
      return text !== null && text.length > LONG_PARAM ? marked(text) : text;
    },
    fill(json) {
      if (name === undefined) return json;
      const parts = json.split(`${name}(`);
      // Twice, because a buffer that grows would hold the bytes twice.
      let length = 0;
      let scratch = new Uint8Array(0);
      for (const piece of pieces(parts)) {
        if (scratch.length < 3 * piece.length) scratch = new Uint8Array(3 * piece.length);
        length += encoder.encodeInto(piece, scratch).written;
      }
      const bytes = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces(parts)) at += encoder.encodeInto(piece, bytes.subarray(at)).written;
      return bytes;
    },
  };
}

const [QUOTE, BACKSLASH, U] = [0x22, 0x5c, 0x75];
/** PostgreSQL has no text with it. */
const NUL = '\u0000';

/** Reads a JSON text in pieces. Long strings are never part of a longer text. */
export function createJsonReader() {
  const long: string[] = [];
  /** The text, with a mark for each long string. */
  let json = '';
  /** The beginning of a string; undefined between strings. */
  let value: string | undefined;
  /** The beginning of an escape sequence. */
  let rest = '';

  const stringOf = (escaped: string): string => {
    const text: unknown = JSON.parse(`"${escaped}"`);
    if (typeof text !== 'string') throw new SyntaxError('not a string');
    return text;
  };
  const filledText = (text: string): string => (text.startsWith(NUL) ? (long[Number(text.slice(1))] ?? '') : text);
  const filledValue = (parsed: unknown): unknown => {
    if (typeof parsed === 'string') return filledText(parsed);
    if (typeof parsed !== 'object' || parsed === null) return parsed;
    if (Array.isArray(parsed)) return parsed.map(filledValue);
    return Object.fromEntries(Object.entries(parsed).map(([name, member]) => [filledText(name), filledValue(member)]));
  };

  return {
    write(piece: string): void {
      const text = rest + piece;
      rest = '';
      let read = '';
      for (let at = 0; at < text.length;) {
        if (value === undefined) {
          const quote = text.indexOf('"', at);
          read += text.slice(at, quote < 0 ? text.length : quote);
          if (quote < 0) break;
          at = quote + 1;
          value = '';
        }
        let end = at;
        let isCut = false;
        for (let code; end < text.length && (code = text.charCodeAt(end)) !== QUOTE;) {
          const length = code !== BACKSLASH ? 1 : text.charCodeAt(end + 1) === U ? 6 : 2;
          isCut = end + length > text.length;
          if (isCut) break;
          end += length;
        }
        const escaped = text.slice(at, end);
        if (end < text.length && !isCut) {
          if (value.length + escaped.length <= LONG_VALUE)
            read += value === '' ? `"${escaped}"` : JSON.stringify(value + stringOf(escaped));
          else {
            read += `"\\u0000${long.length}"`;
            long.push(value + stringOf(escaped));
          }
          value = undefined;
          at = end + 1;
        } else {
          value += stringOf(escaped);
          rest = text.slice(end);
          // With the blank it is not a slice of this piece.
          read += ' ';
          break;
        }
      }
      // V8 copies it now, and keeps no slices of this piece.
      read.charCodeAt(0);
      json += read;
    },
    /** @throws SyntaxError if the text is not JSON, or not complete */
    end(): unknown {
      if (value !== undefined) throw new SyntaxError('the JSON ends in a string');
      const parsed: unknown = JSON.parse(json);
      return long.length === 0 ? parsed : filledValue(parsed);
    },
  };
}
