/**
 * A message as a list of segments that split their fields only when asked (HL7 v2.5.1 §2.5). It knows separators,
 * not meaning: any segment name is read, Z segments and misspelt ones alike. Values are read with `value.ts`.
 */
import type { Charset } from './charset.ts';
import { decodeMessage } from './decode.ts';
import { readDelimiters, type Delimiters } from './delimiters.ts';
import { hl7Fault } from './error-code.ts';
import type { Syntax } from './escapes.ts';
import { isSegmentId, Segment } from './segment.ts';
import { locate } from './value.ts';

export { isSegmentId, type Segment };

export interface Message {
  /** Decoded, without byte order mark and without what stood before the first segment. */
  readonly text: string;
  readonly delimiters: Delimiters;
  readonly charset: Charset;
  readonly segments: readonly Segment[];
}

export interface ReadOptions {
  /** The set of bytes that neither a mark nor MSH-18 names: a setting of the key. UTF-8 when not given. */
  readonly defaultCharset?: Charset;
}

/** Far above any real message (a panel of 200 OBX has some 210), far below what fills a Worker's 128 MB. */
export const MAX_SEGMENTS = 20_000;

/**
 * Reads one message, a batch, or several messages in one body; which of them it is tells `envelope.ts`.
 *
 * Segments end with CR, LF or CRLF; empty lines are skipped.
 *
 * @throws Fault 100, 101 or 102 located in MSH when it cannot be read as HL7 v2; 102 and 103 from decoding; 207 for
 *   more than 20,000 segments
 */
export function readMessage(input: Uint8Array | string, options: ReadOptions = {}): Message {
  const decoded =
    typeof input === 'string'
      ? { text: input, charset: 'utf-8' as const }
      : decodeMessage(input, options.defaultCharset);
  const text = withoutLead(decoded.text);
  const lines = text.includes('\n') ? text.replaceAll('\r\n', '\r').replaceAll('\n', '\r') : text;
  const end = lines.indexOf('\r');
  const delimiters = readDelimiters(end < 0 ? lines : lines.slice(0, end));
  const segments = segmentsOf(lines, { delimiters, charset: decoded.charset });
  if (text.includes('\0')) throw nulFault(segments);
  return { text, delimiters, charset: decoded.charset, segments };
}

// A mark in a string, white space, and the start of an MLLP frame that a sender left in a body.
function withoutLead(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.startsWith('MSH') ? text : text.replace(/^[\ufeff\u000b\s]+/, '');
}

function segmentsOf(text: string, syntax: Syntax): Segment[] {
  const segments: Segment[] = [];
  const counts = new Map<string, number>();
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('\r', start);
    const end = next < 0 ? text.length : next;
    if (!isBlank(text, start, end)) {
      if (segments.length === MAX_SEGMENTS) throw tooMany(segments);
      const id = idAt(text, start, end, syntax.delimiters.field);
      const counted = isSegmentId(id) ? id : '';
      const sequence = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, sequence);
      segments.push(new Segment(id, sequence, segments.length, syntax, text, start, end));
    }
    start = end + 1;
  }
  return segments;
}

// Empty, white space, or the end of an MLLP frame on a line of its own.
function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (text.charCodeAt(at) > 0x20) return false;
  }
  return true;
}

function idAt(text: string, start: number, end: number, separator: string): string {
  const id = text.slice(start, start + 3);
  if (isSegmentId(id) && (end === start + 3 || text.startsWith(separator, start + 3))) return id;
  const line = text.slice(start, end);
  const to = line.indexOf(separator);
  return to < 0 ? line : line.slice(0, to);
}

const tooMany = (segments: readonly Segment[]) => {
  const message = `the message has more than ${MAX_SEGMENTS} segments`;
  return hl7Fault('207', `${segments[0]?.id ?? 'MSH'}^1`, message, 'too-many-segments', 'too-large');
};

// PostgreSQL cannot store NUL in a text, and no character set of HL7 gives it a meaning.
function nulFault(segments: readonly Segment[]) {
  const holder = segments.find((segment) => segment.raw.includes('\0'));
  const field = holder?.fields().findIndex((raw) => raw.includes('\0')) ?? 0;
  const at = holder === undefined ? 'MSH^1' : locate(holder, ...(field > 0 ? [field] : []));
  return hl7Fault('102', at, 'the message holds a NUL character', 'nul', 'malformed');
}

/** The segments of one name, in order. */
export function segmentsNamed(message: Message, id: string): Segment[] {
  return message.segments.filter((segment) => segment.id === id);
}

/** The first segment of a name. */
export function firstSegment(message: Message, id: string): Segment | undefined {
  return message.segments.find((segment) => segment.id === id);
}
