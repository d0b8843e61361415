/**
 * Decodes the bytes of a message: by byte order mark, else by MSH-18, else by the key's default (HL7 v2.5.1 §2.15.9.18).
 * Bytes that do not decode are a located Fault; no character is ever replaced.
 */
import { charsetNamed, decodeSwitchedText, decodeText, latin1, type Charset } from './charset.ts';
import { declaresDelimiters } from './delimiters.ts';
import { hl7Fault } from './error-code.ts';
import { hasSwitches } from './iso-2022.ts';
import { pathOf } from './value.ts';

export interface Decoded {
  /** Without byte order mark. */
  readonly text: string;
  readonly charset: Charset;
}

const MARKS: readonly { readonly bytes: readonly number[]; readonly charset: Charset; readonly skip: number }[] = [
  { bytes: [0xef, 0xbb, 0xbf], charset: 'utf-8', skip: 3 },
  { bytes: [0xff, 0xfe], charset: 'utf-16le', skip: 2 },
  { bytes: [0xfe, 0xff], charset: 'utf-16be', skip: 2 },
  // Without a mark, the M of MSH in two bytes shows the order.
  { bytes: [0x4d, 0x00], charset: 'utf-16le', skip: 0 },
  { bytes: [0x00, 0x4d], charset: 'utf-16be', skip: 0 },
];

/**
 * Decodes a message.
 *
 * @param fallback the set of a message that names no set; UTF-8, which includes ASCII, if omitted
 * @throws Fault 103 at MSH-18 for an unknown set; 102 at the field whose bytes do not decode
 */
export function decodeMessage(bytes: Uint8Array, fallback: Charset = 'utf-8'): Decoded {
  const mark = MARKS.find(({ bytes: start }) => start.every((byte, at) => bytes[at] === byte));
  const rest = mark === undefined ? bytes : bytes.subarray(mark.skip);
  const candidates = mark === undefined ? declaredCharsets(bytes, fallback) : [mark.charset];
  const [first = fallback] = candidates;

  // Several sets announce the escape sequences of ISO 2022; the first one has no sequence.
  if (candidates.length > 1 && hasSwitches(rest)) {
    const text = decodeSwitchedText(rest, first);
    if (text === undefined) throw undecodable(rest, first, decodeSwitchedText);
    // An ACK in Japanese needs the sequences too.
    return { text, charset: candidates.includes('iso-2022-jp') ? 'iso-2022-jp' : first };
  }

  // The first repetition of MSH-18 is the message's set. The next is tried only if the first does not fit: some senders
  // write `ASCII~UNICODE UTF-8` and send UTF-8.
  for (const charset of candidates) {
    const text = decodeText(rest, charset);
    if (text !== undefined) return { text, charset };
  }
  throw undecodable(rest, first, decodeText);
}

/** The sets that MSH-18 names. @throws Fault 103 at MSH-18 if none is known */
export function declaredCharsets(bytes: Uint8Array, fallback: Charset): Charset[] {
  const { names, repetition } = declaration(bytes);
  if (names === '') return [fallback];
  const charsets = names.split(repetition).map((name) => (name === '' ? fallback : charsetNamed(name)));
  const known = charsets.filter((charset) => charset !== undefined);
  if (known.length === 0) {
    throw hl7Fault('103', 'MSH^1^18', 'MSH-18 names no supported character set of table 0211', 'unknown-charset');
  }
  // Each set once: a header that repeats one a thousand times must not cause a thousand attempts.
  return [...new Set(known)];
}

// MSH is searched byte by byte: MSH-18 is ASCII in every set but UTF-16, which is detected before.
function declaration(bytes: Uint8Array): { names: string; repetition: string } {
  const start = headerStart(bytes);
  const separator = bytes[start + 3];
  let field = 1;
  let from = 0;
  let at = start + 3;
  // Characters of two bytes (ISO 2022) may contain the byte of a separator.
  let isInPairs = false;
  for (; at < bytes.length && !isLineEnd(bytes[at]); at += 1) {
    if (bytes[at] === 0x1b) isInPairs = bytes[at + 1] === 0x24;
    if (bytes[at] !== separator || isInPairs) continue;
    field += 1; // The first separator is MSH-1 itself.
    if (field === 18) from = at + 1;
    if (field === 19) break;
  }
  const names = from === 0 ? '' : latin1(bytes.subarray(from, at));
  return { names, repetition: String.fromCharCode(bytes[start + 5] ?? 0x7e) };
}

function headerStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < bytes.length && (bytes[start] ?? 0) <= 0x20) start += 1;
  return start;
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;

type Decode = typeof decodeText;

function undecodable(bytes: Uint8Array, charset: Charset, decode: Decode) {
  const at = whereUndecodable(bytes, charset, decode);
  return hl7Fault('102', at, `the bytes of ${pathOf(at)} are not ${charset}`, 'undecodable-bytes', 'malformed');
}

// Only after decoding has failed: decodes line by line, then field by field, to locate the fault.
function whereUndecodable(bytes: Uint8Array, charset: Charset, decode: Decode): string {
  const separator = bytes[headerStart(bytes) + 3];
  const seen = new Map<string, number>();
  for (const line of splitBytes(bytes, isLineEnd)) {
    const name = latin1(line.subarray(0, 3));
    const id = /^[A-Z][A-Z0-9]{2}$/.test(name) ? name : '???';
    if (line.length === 0) continue;
    const sequence = (seen.get(id) ?? 0) + 1;
    seen.set(id, sequence);
    if (decode(line, charset) !== undefined) continue;
    const field = splitBytes(line, (byte) => byte === separator).findIndex(
      (part) => decode(part, charset) === undefined,
    );
    if (field < 1) return `${id}^${sequence}`;
    return `${id}^${sequence}^${declaresDelimiters(id) ? field + 1 : field}`;
  }
  return 'MSH^1';
}

function splitBytes(bytes: Uint8Array, isSeparator: (byte: number) => boolean): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  bytes.forEach((byte, at) => {
    if (!isSeparator(byte)) return;
    parts.push(bytes.subarray(start, at));
    start = at + 1;
  });
  parts.push(bytes.subarray(start));
  return parts;
}
