/** `_pretty`: indented JSON (FHIR R4 http, 3.1.0.1.7). Only the space between tokens changes; numbers keep their digits. */

/** The approximate length of a piece of a large text. A long string is never divided. */
const PIECE_LENGTH = 64 * 1024;

/** A token that is not a string: an empty list or object, a bracket, a separator, a number or word, space. */
const TOKEN = /[{[]\s*[}\]]|[{}[\],:]|\s+|[^\s"{}[\],:]+/y;

/** The end of the string that begins at an offset. */
function endOfString(json: string, begin: number): number {
  for (let quote = json.indexOf('"', begin + 1); quote > 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('the JSON text ends inside a string');
}

function tokenAt(json: string, begin: number): string {
  if (json[begin] === '"') return json.slice(begin, endOfString(json, begin));
  TOKEN.lastIndex = begin;
  return TOKEN.exec(json)?.[0] ?? '';
}

/**
 * Indents a text piece by piece, so that memory never contains a large text twice.
 *
 * @param json valid JSON, printed by the gateway
 */
export function* prettyPieces(json: string): Generator<string, undefined> {
  let piece = '';
  let line = '\n';
  for (let at = 0; at < json.length;) {
    const token = tokenAt(json, at);
    at += token.length;
    switch (token) {
      case '{':
      case '[':
        line += '  ';
        piece += token + line;
        break;
      case '}':
      case ']':
        line = line.slice(0, -2);
        piece += line + token;
        break;
      case ',':
        piece += token + line;
        break;
      case ':':
        piece += ': ';
        break;
      default:
        // A string keeps its own space, and a token never consists of space only.
        piece += /^[{[]/.test(token) ? token.replace(/\s+/, '') : token.trim();
    }
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}\n`;
}

/** @param json valid JSON, printed by the gateway */
export const pretty = (json: string): string => [...prettyPieces(json)].join('');
