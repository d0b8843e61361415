/**
 * One segment: a stretch of its message's text that finds its fields when first asked (HL7 v2.5.1 §2.5.2). A class,
 * because a message has hundreds of them and none should carry closures of its own. Values are read with `value.ts`.
 */
import { declaresDelimiters } from './delimiters.ts';
import type { Syntax } from './escapes.ts';

/** Whether a name has the form of a segment's (§2.5.2). `__proto__` has not, nor has the rest of a broken line. */
export function isSegmentId(id: string): boolean {
  if (id.length !== 3 || !isCapital(id.charCodeAt(0))) return false;
  const [second, third] = [id.charCodeAt(1), id.charCodeAt(2)];
  return (isCapital(second) || isDigit(second)) && (isCapital(third) || isDigit(third));
}

const isCapital = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

export class Segment {
  /** What stands before the first field separator: `PID`, `ZPI`. */
  readonly id: string;
  /** Which of its name this is in the message, from 1: ERR-2.2. */
  readonly sequence: number;
  /** Position among all segments, from 0. */
  readonly index: number;
  readonly syntax: Syntax;
  /** The message with CR between its segments; this one is `start` (inclusive) to `end` (exclusive) of it. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** MSH, FHS or BHS: fields 1 and 2 are the separators themselves, neither split nor unescaped. */
  readonly isDeclaring: boolean;
  // Where each field starts, the id being field 0; every field ends one separator before the next starts.
  #starts: readonly number[] | undefined;

  constructor(id: string, sequence: number, index: number, syntax: Syntax, text: string, start: number, end: number) {
    this.id = id;
    this.sequence = sequence;
    this.index = index;
    this.syntax = syntax;
    this.text = text;
    this.start = start;
    this.end = end;
    this.isDeclaring = declaresDelimiters(id);
  }

  /** As it was sent, without its line end. */
  get raw(): string {
    return this.text.slice(this.start, this.end);
  }

  /** Raw fields by their HL7 number: `fields()[5]` of PID is PID-5, `fields()[1]` of MSH is the field separator. */
  fields(): string[] {
    const fields = this.raw.split(this.syntax.delimiters.field);
    // MSH-1 is the separator between MSH and MSH-2 itself (§2.15.9.1).
    if (this.isDeclaring) fields.splice(1, 0, this.syntax.delimiters.field);
    return fields;
  }

  /** One raw field; undefined when the segment ends before it. */
  field(number: number): string | undefined {
    if (number === 1 && this.isDeclaring) return this.syntax.delimiters.field;
    const start = this.fieldStart(number);
    return start < 0 ? undefined : this.text.slice(start, this.fieldEnd(number));
  }

  /** Where a field starts in `text`; -1 when the segment ends before it. Not for MSH-1, which stands between fields. */
  fieldStart(number: number): number {
    this.#starts ??= this.#findFields();
    return this.#starts[number > 1 && this.isDeclaring ? number - 1 : number] ?? -1;
  }

  /** Where a field that is there ends in `text`. */
  fieldEnd(number: number): number {
    this.#starts ??= this.#findFields();
    const next = this.#starts[number > 1 && this.isDeclaring ? number : number + 1];
    return next === undefined ? this.end : next - 1;
  }

  // In a string of its own: in the whole text a search would run beyond the segment, and many short segments would
  // make that quadratic.
  #findFields(): number[] {
    const { raw, start } = this;
    const separator = this.syntax.delimiters.field;
    const starts = [start];
    for (let at = raw.indexOf(separator); at >= 0; at = raw.indexOf(separator, at + 1)) starts.push(start + at + 1);
    return starts;
  }
}
