/**
 * Encodes text in the sender's character set, for an ACK. The web platform encodes only UTF-8, so the tables of other sets
 * are built once, by decoding every code of the set.
 */
import { decodeText, latin1, type Charset } from './charset.ts';

const tables = new Map<Charset, ReadonlyMap<string, readonly number[]>>();

/** The bytes of a text, without byte order mark; undefined if the set lacks a character. */
export function encodeText(text: string, charset: Charset): Uint8Array | undefined {
  if (charset === 'utf-8') return new TextEncoder().encode(text);
  if (charset === 'utf-16le' || charset === 'utf-16be') return encodeUtf16(text, charset === 'utf-16le');

  const bytes: number[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const encoded = code < 0x80 ? [code] : tableOf(charset).get(character);
    if (encoded === undefined) return undefined;
    bytes.push(...encoded);
  }
  return charset === 'iso-2022-jp' ? withoutIdleSwitches(bytes) : Uint8Array.from(bytes);
}

const TO_ASCII = '(B';
const SWITCHES = [TO_ASCII, '(I', '$B', '$(D'];

// A decoder rejects a switch to ASCII that is followed immediately by another one (Encoding Standard, ISO-2022-JP).
function withoutIdleSwitches(bytes: readonly number[]): Uint8Array {
  const [start = '', ...parts] = latin1(Uint8Array.from(bytes)).split('\u001b');
  let current = TO_ASCII;
  let text = start;
  for (const part of parts) {
    const sequence = SWITCHES.find((each) => part.startsWith(each));
    // An ESC of the text itself.
    if (sequence === undefined) text += `\u001b${part}`;
    else if (part.length > sequence.length) {
      text += sequence === current ? part.slice(sequence.length) : `\u001b${part}`;
      current = sequence;
    }
  }
  if (current !== TO_ASCII) text += `\u001b${TO_ASCII}`;
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Like `encodeText`, but a character that the set lacks becomes `?`. */
export function encodeLossy(text: string, charset: Charset): Uint8Array {
  const complete = encodeText(text, charset);
  if (complete !== undefined) return complete;
  const known = Array.from(text, (character) => (encodeText(character, charset) === undefined ? '?' : character));
  return encodeText(known.join(''), charset) ?? new Uint8Array();
}

function encodeUtf16(text: string, little: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), little);
  return new Uint8Array(view.buffer);
}

function tableOf(charset: Charset): ReadonlyMap<string, readonly number[]> {
  const known = tables.get(charset);
  if (known !== undefined) return known;
  const table = new Map<string, readonly number[]>();
  for (const [code, bytes] of codesOf(charset)) {
    const character = decodeText(Uint8Array.from(code), charset);
    // The first code of a character wins. A pair that decodes to two characters consists of two codes.
    if (character !== undefined && Array.from(character).length === 1 && !table.has(character))
      table.set(character, bytes);
  }
  tables.set(charset, table);
  return table;
}

/** The codes of a set for characters beyond ASCII: the bytes to decode, and the bytes to write. */
function* codesOf(charset: Charset): Iterable<[readonly number[], readonly number[]]> {
  if (charset === 'iso-2022-jp') {
    // Each between the switch to its set and the switch back to ASCII: JIS X 0208, katakana of JIS X 0201, JIS X 0212.
    const toAscii = [0x1b, 0x28, 0x42];
    for (const pair of pairs(0x21, 0x7e, 0x21, 0x7e)) yield twice([0x1b, 0x24, 0x42, ...pair, ...toAscii]);
    for (let byte = 0x21; byte <= 0x5f; byte += 1) yield twice([0x1b, 0x28, 0x49, byte, ...toAscii]);
    for (const pair of pairs(0x21, 0x7e, 0x21, 0x7e)) yield twice([0x1b, 0x24, 0x28, 0x44, ...pair, ...toAscii]);
    return;
  }
  for (let byte = 0x80; byte <= 0xff; byte += 1) yield [[byte], [byte]];
  if (!MULTIBYTE.has(charset)) return;
  for (const pair of pairs(0x81, 0xfe, 0x40, 0xfe)) yield [pair, pair];
}

const twice = <T>(code: T): [T, T] => [code, code];

const MULTIBYTE: ReadonlySet<Charset> = new Set<Charset>(['shift_jis', 'euc-jp', 'gb18030', 'euc-kr', 'big5']);

function* pairs(leadFrom: number, leadTo: number, trailFrom: number, trailTo: number): Iterable<readonly number[]> {
  for (let lead = leadFrom; lead <= leadTo; lead += 1) {
    for (let trail = trailFrom; trail <= trailTo; trail += 1) yield [lead, trail];
  }
}
