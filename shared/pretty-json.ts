/** `_pretty`: JSON for people (FHIR R4 http, 3.1.0.1.7). Only the space between tokens changes, so numbers stay digit for digit. */

/** Large texts come in pieces of some such length, a long string of the JSON as a whole. */
const PIECE_LENGTH = 64 * 1024;

/** What is no string: an empty list or object, a bracket, a separator, a number or word, space. */
const TOKEN = /[{[]\s*[}\]]|[{}[\],:]|\s+|[^\s"{}[\],:]+/y;

/** Where the string ends that begins at a place. */
function endOfString(json: string, begin: number): number {
  for (let quote = json.indexOf('"', begin + 1); quote > 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('a string has no end');
}

function tokenAt(json: string, begin: number): string {
  if (json[begin] === '"') return json.slice(begin, endOfString(json, begin));
  TOKEN.lastIndex = begin;
  return TOKEN.exec(json)?.[0] ?? '';
}

/**
 * The text in pieces, so that a large one is not in memory a second time.
 *
 * @param json JSON text of ours
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
        // A string keeps its space, which is never all that it has.
        piece += /^[{[]/.test(token) ? token.replace(/\s+/, '') : token.trim();
    }
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}\n`;
}

/** @param json JSON text of ours */
export const pretty = (json: string): string => [...prettyPieces(json)].join('');
