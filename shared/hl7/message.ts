/**
 * A message as a list of segments that parse their fields on demand (HL7 v2.5.1 §2.5). It accepts any segment name, Z
 * segments and misspelt names included. `value.ts` reads values.
 */
import type { Charset } from './charset.ts';
import { decodeMessage } from './decode.ts';
import { readDelimiters, type Delimiters } from './delimiters.ts';
import { hl7Fault } from './error-code.ts';
import type { Syntax } from './escapes.ts';
import { isSegmentId, Segment, type Source } from './segment.ts';
import { separatorsOf, type Separators } from './separators.ts';
import { locate } from './value.ts';

export { isSegmentId, type Segment };

/** Finds the lines first, and makes a segment on demand, because most readers need only a few. */
export class Message implements Source {
  /** Decoded, without byte order mark and without text before the first segment. */
  readonly text: string;
  readonly delimiters: Delimiters;
  readonly charset: Charset;
  /** The text with CR between segments. */
  readonly lines: string;
  readonly separators: Separators;
  readonly documents: ReadonlySet<string>;
  // Start and end of each segment in `lines`: two numbers a segment.
  readonly #bounds: readonly number[];
  // By index, made on demand.
  readonly #made: (Segment | undefined)[] = [];
  #all: readonly Segment[] | undefined;

  constructor(
    text: string,
    lines: string,
    bounds: readonly number[],
    { delimiters, charset }: Syntax,
    documents: ReadonlySet<string>,
  ) {
    this.text = text;
    this.delimiters = delimiters;
    this.charset = charset;
    this.lines = lines;
    this.separators = separatorsOf(delimiters);
    this.documents = documents;
    this.#bounds = bounds;
  }

  get segments(): readonly Segment[] {
    return (this.#all ??= this.#makeAll());
  }

  first(id: string): Segment | undefined {
    if (id.length !== 3) return this.segments.find((segment) => segment.id === id);
    const index = this.#find(id, 0);
    return index < 0 ? undefined : this.#segment(index, id, 1);
  }

  named(id: string): Segment[] {
    if (id.length !== 3) return this.segments.filter((segment) => segment.id === id);
    const segments: Segment[] = [];
    for (let index = this.#find(id, 0); index >= 0; index = this.#find(id, index + 1)) {
      segments.push(this.#segment(index, id, segments.length + 1));
    }
    return segments;
  }

  // The index of the next segment with a name of three characters, or -1.
  #find(id: string, from: number): number {
    const { lines } = this;
    const bounds = this.#bounds;
    const first = id.charCodeAt(0);
    const second = id.charCodeAt(1);
    const third = id.charCodeAt(2);
    for (let at = from * 2; at < bounds.length; at = (at + 2) | 0) {
      const start = bounds[at] ?? 0;
      if (
        lines.charCodeAt(start) === first &&
        lines.charCodeAt(start + 1) === second &&
        lines.charCodeAt(start + 2) === third &&
        this.#isIdEnd(at / 2, start + 3)
      ) {
        return at / 2;
      }
    }
    return -1;
  }

  #makeAll(): Segment[] {
    const counts = new Map<string, number>();
    return Array.from({ length: this.#bounds.length / 2 }, (_, index) => {
      const id = this.#idAt(index);
      const counted = isSegmentId(id) ? id : '';
      const sequence = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, sequence);
      return this.#segment(index, id, sequence);
    });
  }

  #segment(index: number, id: string, sequence: number): Segment {
    return (this.#made[index] ??= new Segment(id, sequence, index, this, this.#start(index), this.#end(index)));
  }

  #start(index: number): number {
    return this.#bounds[index * 2] ?? 0;
  }

  #end(index: number): number {
    return this.#bounds[index * 2 + 1] ?? 0;
  }

  #isIdEnd(index: number, at: number): boolean {
    return at === this.#end(index) || this.lines.charCodeAt(at) === this.separators.field;
  }

  // The text before the first separator, even if it is not a valid name.
  #idAt(index: number): string {
    const start = this.#start(index);
    if (this.#isIdEnd(index, start + 3)) {
      const id = this.lines.slice(start, start + 3);
      if (isSegmentId(id)) return id;
    }
    const line = this.lines.slice(start, this.#end(index));
    const to = line.indexOf(this.delimiters.field);
    return to < 0 ? line : line.slice(0, to);
  }
}

export interface ReadOptions {
  /** The set if neither a byte order mark nor MSH-18 names one: a setting of the key. UTF-8 if omitted. */
  readonly defaultCharset?: Charset;
  /** The values that stand for a document. */
  readonly documents?: ReadonlySet<string>;
}

/** Far above any real message (a panel of 200 OBX has some 210), far below what fills a Worker's 128 MB. */
export const MAX_SEGMENTS = 20_000;

/**
 * Reads one message, a batch, or several messages in one body; `envelope.ts` distinguishes them. Segments end with CR, LF or
 * CRLF; empty lines are skipped.
 *
 * @throws Fault 100, 101 or 102 located in MSH if it is not HL7 v2; 102 and 103 from decoding; 207 for more than 20,000
 *   segments
 */
export function readMessage(input: Uint8Array | string, options: ReadOptions = {}): Message {
  const decoded =
    typeof input === 'string'
      ? { text: input, charset: 'utf-8' as const }
      : decodeMessage(input, options.defaultCharset);
  const text = withoutEnd(withoutLead(decoded.text));
  const broken = text.includes('\n') ? text.replaceAll('\r\n', '\r').replaceAll('\n', '\r') : text;
  const delimiters = readDelimiters(broken);
  const joined = broken.includes('\rADD') ? withContinued(broken, delimiters.field) : broken;
  const lines = OTHER_LINE.test(joined) ? withLineBreaks(joined, delimiters.field) : joined;
  const message = new Message(
    text,
    lines,
    boundsOf(lines),
    { delimiters, charset: decoded.charset },
    options.documents ?? NONE,
  );
  if (text.includes('\0')) throw nulFault(message);
  return message;
}

/**
 * The message with other segments. Delimiters, character set and documents stay.
 *
 * @param lines with CR between segments, at most as many as before, and the same MSH
 */
export const withLines = (message: Message, lines: string): Message =>
  new Message(lines, lines, boundsOf(lines), message, message.documents);

const NONE: ReadonlySet<string> = new Set();

/**
 * ADD continues the segment before it at any character (HL7 v2.5.1 §2.10.2.1). After MSH it continues one of an earlier message,
 * and stays a segment.
 */
function withContinued(lines: string, separator: string): string {
  const header = lines.indexOf('\r') + 1;
  return lines.slice(0, header) + lines.slice(header).replaceAll(`\rADD${separator}`, '');
}

/** A line that may not begin with a segment name. */
const OTHER_LINE = /\r(?![A-Z][A-Z0-9]{2}[^A-Za-z0-9\s])[^\r]/;
/** Any word before a separator may be a misspelt name. */
const NAME = /^\w*$/;
/** The fields with texts, which end segments that a line break divides. */
const TEXT_FIELDS: ReadonlyMap<string, number> = new Map([
  ['OBX', 5],
  ['NTE', 3],
]);

/**
 * Reads the line breaks of senders that do not escape them, as LF. A line without a segment name continues the text in OBX-5 or
 * NTE-3 before it. It continues any other field if more fields follow.
 */
function withLineBreaks(lines: string, separator: string): string {
  const joined: string[] = [];
  const all = lines.split('\r');
  for (let at = 0; at < all.length;) {
    const segment = all[at] ?? '';
    const [id = '', ...fields] = segment.split(separator);
    const isText = TEXT_FIELDS.get(id) === fields.length;
    const isSegment = (line: string): boolean => {
      const [name = '', ...first] = line.split(separator, 6);
      // An OBX without OBX-11 breaks off in its text, whose last line may be one word: `END||||||F`.
      if (isText && id === 'OBX') return isSegmentId(name) && first.some((field) => field !== '');
      return first.length === 0 ? isSegmentId(line) : NAME.test(name.trim());
    };
    // A text may have empty lines, but none at its end.
    const begin = at + 1;
    let end = begin;
    for (at = begin; at < all.length && !isSegment(all[at] ?? ''); at += 1) if (!isEmpty(all[at])) end = at + 1;
    const more = all.slice(begin, end);
    const isContinued = id !== 'MSH' && (isText || more.some((line) => line.includes(separator)));
    joined.push([segment, ...more].join(isContinued ? '\n' : '\r'));
  }
  return joined.join('\r');
}

const isEmpty = (line = ''): boolean => isBlank(line, 0, line.length);

// A byte order mark, white space, and the start of an MLLP frame that a sender left in a body.
function withoutLead(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.startsWith('MSH') ? text : text.replace(/^[\ufeff\u000b\s]+/, '');
}

// Programs in C end a text with NUL, and some send it.
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  const nul = text.indexOf('\0', end);
  return nul < 0 ? text : text.slice(0, nul);
}

function boundsOf(lines: string): number[] {
  const bounds: number[] = [];
  for (let start = 0; start < lines.length;) {
    const next = lines.indexOf('\r', start);
    const end = next < 0 ? lines.length : next;
    if (!isBlank(lines, start, end)) bounds.push(start, end);
    if (bounds.length > MAX_SEGMENTS * 2) throw tooMany(lines.slice(0, 3));
    start = end + 1;
  }
  return bounds;
}

// Empty, white space, or the end of an MLLP frame on its own line.
function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (text.charCodeAt(at) > 0x20) return false;
  }
  return true;
}

const tooMany = (header: string) => {
  const message = `the message has more than ${MAX_SEGMENTS} segments, which is the limit`;
  return hl7Fault('207', `${header}^1`, message, 'too-many-segments', 'too-large');
};

// PostgreSQL cannot store NUL in a text, and NUL has no meaning in a character set of HL7.
function nulFault({ segments }: Message) {
  const holder = segments.find((segment) => segment.raw.includes('\0'));
  const field = holder?.fields().findIndex((raw) => raw.includes('\0')) ?? 0;
  const at = holder === undefined ? 'MSH^1' : locate(holder, ...(field > 0 ? [field] : []));
  return hl7Fault('102', at, 'the message contains a NUL character', 'nul', 'malformed');
}
