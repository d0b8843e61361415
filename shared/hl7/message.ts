/**
 * A message as a list of segments that split their fields only when asked (HL7 v2.5.1 §2.5). It knows separators,
 * not meaning: any segment name is read, Z segments and misspelt ones alike. Values are read with `value.ts`.
 */
import type { Charset } from './charset.ts';
import { decodeMessage } from './decode.ts';
import { declaresDelimiters, readDelimiters, type Delimiters } from './delimiters.ts';
import { hl7Fault } from './error-code.ts';
import type { Syntax } from './escapes.ts';

export interface Segment {
  /** What stands before the first field separator: `PID`, `ZPI`. */
  readonly id: string;
  /** Which of its name this is in the message, from 1: ERR-2.2. */
  readonly sequence: number;
  /** Position among all segments, from 0. */
  readonly index: number;
  readonly raw: string;
  readonly syntax: Syntax;
  /** Raw fields by their HL7 number: `fields()[5]` of PID is PID-5, `fields()[1]` of MSH is the field separator. */
  readonly fields: () => readonly string[];
}

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

const SEGMENT_ID = /^[A-Z][A-Z0-9]{2}$/;

/** Whether a name has the form of a segment's (§2.5.2). `__proto__` has not, nor has the rest of a broken line. */
export function isSegmentId(id: string): boolean {
  return SEGMENT_ID.test(id);
}

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
  // A mark in a string, white space, and the start of an MLLP frame that a sender left in a body.
  // oxlint-disable-next-line no-control-regex
  const text = decoded.text.replace(/^[\ufeff\u000b\s]+/, '');
  if (text.includes('\0'))
    throw hl7Fault('102', whereNul(text), 'the message holds a NUL character', 'nul', 'malformed');

  const lines = linesOf(text);
  const delimiters = readDelimiters(lines[0] ?? '');
  if (lines.length > MAX_SEGMENTS) {
    const message = `the message has more than ${MAX_SEGMENTS} segments`;
    throw hl7Fault('207', `${idOf(lines[0] ?? '', delimiters)}^1`, message, 'too-many-segments', 'too-large');
  }

  const syntax: Syntax = { delimiters, charset: decoded.charset };
  const counts = new Map<string, number>();
  const segments: Segment[] = [];
  for (const line of lines) {
    // The end of an MLLP frame may stand on a line of its own.
    if (line === '' || line === '\u001c') continue;
    const id = idOf(line, delimiters);
    const counted = isSegmentId(id) ? id : '';
    const sequence = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, sequence);
    segments.push(segmentOf(id, sequence, segments.length, line, syntax));
  }
  return { text, delimiters, charset: decoded.charset, segments };
}

function linesOf(text: string): string[] {
  // One more than allowed tells that there are too many, without splitting a megabyte of line ends.
  const limit = MAX_SEGMENTS + 1;
  if (!text.includes('\n')) return text.split('\r', limit);
  return text.includes('\r') ? text.split(/\r\n|\r|\n/, limit) : text.split('\n', limit);
}

function idOf(line: string, delimiters: Delimiters): string {
  const end = line.indexOf(delimiters.field);
  return end < 0 ? line : line.slice(0, end);
}

function segmentOf(id: string, sequence: number, index: number, raw: string, syntax: Syntax): Segment {
  let fields: readonly string[] | undefined;
  return { id, sequence, index, raw, syntax, fields: () => (fields ??= fieldsOf(id, raw, syntax.delimiters.field)) };
}

function fieldsOf(id: string, raw: string, separator: string): readonly string[] {
  const fields = raw.split(separator);
  // MSH-1 is the separator between MSH and MSH-2 itself (§2.15.9.1).
  if (declaresDelimiters(id)) fields.splice(1, 0, separator);
  return fields;
}

function whereNul(text: string): string {
  const id = /([A-Z][A-Z0-9]{2})[^\r\n]*$/.exec(text.slice(0, text.indexOf('\0')))?.[1];
  return `${id ?? 'MSH'}^1`;
}

/** The segments of one name, in order. */
export function segmentsNamed(message: Message, id: string): Segment[] {
  return message.segments.filter((segment) => segment.id === id);
}

/** The first segment of a name. */
export function firstSegment(message: Message, id: string): Segment | undefined {
  return message.segments.find((segment) => segment.id === id);
}
