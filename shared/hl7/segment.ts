/**
 * One segment: a range of its message's text in which values are found on demand (HL7 v2.5.1 §2.5.2). It is a class because
 * a message has hundreds of segments, and closures for each would cost too much. `value.ts` reads it.
 */
import { declaresDelimiters, type Delimiters } from './delimiters.ts';
import { unescape, type Syntax } from './escapes.ts';
import type { Separators } from './separators.ts';

/** True if a name has the form of a segment name (§2.5.2), unlike `__proto__` or the rest of a broken line. */
export function isSegmentId(id: string): boolean {
  return id.length === 3 && isCapital(id.charCodeAt(0)) && isAlphanumeric(id, 1) && isAlphanumeric(id, 2);
}

const isAlphanumeric = (id: string, at: number): boolean => isCapital(id.charCodeAt(at)) || isDigit(id.charCodeAt(at));
const isCapital = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The text that contains a segment. */
export interface Source extends Syntax {
  /** The message with CR between segments. */
  readonly lines: string;
  readonly separators: Separators;
  /** The values that stand for a document (edge/hl7/ingest/cut-documents.ts). */
  readonly documents: ReadonlySet<string>;
}

/** The longest message whose values `scan` finds; few messages reach a tenth of it. */
export const MAX_SCANNED = 64 * 1024;

// The characters of the last message, one byte each, with 0 for those beyond ASCII, which are never delimiters. V8
// searches a constant array of bytes of this module twice as fast as `charCodeAt`. A new array for each message would
// cost more than reading it.
const CODES = new Uint8Array(MAX_SCANNED);
let holder: Source | undefined;
const encoder = new TextEncoder();

function hold(source: Source): void {
  const { lines } = source;
  const { read, written } = encoder.encodeInto(lines, CODES);
  if (read !== lines.length || written !== lines.length) {
    for (let at = 0; at < lines.length; at += 1) {
      const code = lines.charCodeAt(at);
      CODES[at] = code < 0x80 ? code : 0;
    }
  }
  holder = source;
}

export class Segment {
  /** The text before the first field separator: `PID`, `ZPI`. */
  readonly id: string;
  /** The number of this segment among those of its name, from 1: ERR-2.2. */
  readonly sequence: number;
  /** Position among all segments, from 0. */
  readonly index: number;
  /** The message; this segment is `start` (inclusive) to `end` (exclusive) of its lines. */
  readonly source: Source;
  readonly start: number;
  readonly end: number;
  /** MSH, FHS or BHS: fields 1 and 2 are the delimiters, neither split nor unescaped. */
  readonly isDeclaring: boolean;
  // The position of the last read: a component in the first repetition of the field behind so many separators. The next
  // read nearly always follows it; a read of an earlier position starts from the beginning.
  #place = 0;
  #component = 1;
  #from: number;
  #to: number;

  constructor(id: string, sequence: number, index: number, source: Source, start: number, end: number) {
    this.id = id;
    this.sequence = sequence;
    this.index = index;
    this.source = source;
    this.start = start;
    this.end = end;
    this.isDeclaring = declaresDelimiters(id);
    this.#from = start;
    this.#to = start + id.length;
  }

  /** As sent, without its line end. */
  get raw(): string {
    return this.source.lines.slice(this.start, this.end);
  }

  /** Raw fields by their HL7 number: `fields()[5]` of PID is PID-5, `fields()[1]` of MSH is the field separator. */
  fields(): string[] {
    const separator = this.#delimiters.field;
    const fields = this.raw.split(separator);
    // MSH-1 is the separator between MSH and MSH-2 itself (§2.15.9.1).
    if (this.isDeclaring) fields.splice(1, 0, separator);
    return fields;
  }

  /** One raw field; undefined if the segment ends before it. */
  field(number: number): string | undefined {
    if (number === 1 && this.isDeclaring) return this.#delimiters.field;
    const start = this.#seek(this.#placeOf(number));
    if (start < 0) return undefined;
    const { lines } = this.source;
    const next = lines.indexOf(this.#delimiters.field, start);
    return lines.slice(start, next < 0 || next > this.end ? this.end : next);
  }

  /**
   * The text at a position, all numbers from 1: `undefined` absent, `null` for `""`. `valueAt` calls it for messages of up
   * to `MAX_SCANNED` characters, except for the fields that declare the delimiters.
   *
   * This is the hot path of every mapping. It reads each character once, continues where the last read stopped, and makes
   * no string but the value. `| 0` shows V8 an integer; without it the loop takes twice as long.
   */
  scan(field: number, repetition: number, component: number, subcomponent: number): string | null | undefined {
    const { lines, separators } = this.source;
    const place = this.#placeOf(field) | 0;
    // The delimiters to skip at each level. An outer delimiter before the last inner one means that the value is absent.
    let r = repetition | 0;
    let c = component | 0;
    let s = subcomponent | 0;
    let from: number;
    if (place === this.#place && r === 1 && c >= this.#component) {
      from = this.#from | 0;
      c = (c - this.#component + 1) | 0;
    } else {
      from = this.#seek(place) | 0;
      if (from < 0) return undefined;
    }

    if (holder !== this.source) hold(this.source);
    const { mask } = separators;
    const end = this.end | 0;
    let isEscaped = false;
    let to = from;
    for (; to < end; to = (to + 1) | 0) {
      const code = CODES[to] ?? 0;
      if (((1 << code) & mask) === 0) continue;
      if (code === separators.field) break;
      if (code === separators.component) {
        if (r > 1) continue;
        if (c === 1) break;
        c = (c - 1) | 0;
      } else if (code === separators.subcomponent) {
        if (r > 1 || c > 1) continue;
        if (s === 1) break;
        s = (s - 1) | 0;
      } else if (code === separators.repetition) {
        if (r === 1) break;
        r = (r - 1) | 0;
      } else {
        if (code === separators.escape) isEscaped = true;
        continue;
      }
      from = (to + 1) | 0;
      isEscaped = false;
    }
    if (r !== 1 || c !== 1 || s !== 1) return undefined;

    if (repetition === 1 && subcomponent === 1) {
      this.#place = place;
      this.#component = component;
      this.#from = from;
      this.#to = to;
    }
    const raw = lines.slice(from, to);
    if (raw === '""') return null;
    return isEscaped ? unescape(raw, this.source) : raw;
  }

  get #delimiters(): Delimiters {
    return this.source.delimiters;
  }

  // MSH-2 is behind the first separator, like PID-1.
  #placeOf(field: number): number {
    return this.isDeclaring && field > 0 ? field - 1 : field;
  }

  // The start of the field behind so many separators; -1 if the segment ends before it. A search beyond the end stops at
  // the next separator. A segment without a separator is not searched (its id is all of it), so that many of them cannot
  // make reading quadratic.
  #seek(place: number): number {
    if (place < this.#place || (place === this.#place && this.#component > 1)) this.#rewind();
    if (place === this.#place) return this.#from;
    const { lines, separators, delimiters } = this.source;
    const end = this.end | 0;
    let start = this.#to | 0;
    for (let at = this.#place | 0; at < place; at = (at + 1) | 0) {
      if (start >= end) return -1;
      const next = lines.charCodeAt(start) === separators.field ? start : lines.indexOf(delimiters.field, start);
      if (next < 0 || next >= end) return -1;
      start = (next + 1) | 0;
    }
    this.#place = place;
    this.#component = 1;
    this.#from = start;
    this.#to = start;
    return start;
  }

  #rewind(): void {
    this.#place = 0;
    this.#component = 1;
    this.#from = this.start;
    this.#to = this.start + this.id.length;
  }
}
