/**
 * A message while rules change it: its lines, what was changed, and the budget of work. It is a class because each message has
 * one, and most rules read a few fields of it.
 */
import { documentTokens, withNotes } from '../../../shared/hl7/document-token.ts';
import { isSegmentId, withLines, type Message, type Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { differenceOf } from './difference.ts';

/** A segment, with its fields if a rule changed it. */
export interface Line {
  readonly segment: Segment;
  /** Raw fields by number, once one is changed. */
  fields: string[] | undefined;
  isDropped: boolean;
  /** By field, the sent number of each repetition; null where positions no longer correspond. */
  moved: Map<number, readonly number[] | null> | undefined;
}

/** A value that a rule changed. */
export interface Change {
  /** The number of the rule, from 1. */
  readonly rule: number;
  /** In the message as sent: `PID^1^8`. */
  readonly at: string;
  /** Raw, shortened; `''` for nothing. */
  readonly before: string;
  readonly after: string;
}

/** A change as it is noted while rules run, since few readers need its location. */
interface Edited {
  readonly rule: number;
  readonly segment: Segment;
  /** 0 for the segment itself. */
  readonly field: number;
  readonly before: string;
  readonly after: string;
  readonly sent: readonly number[] | null | undefined;
  readonly isMoving: boolean;
}

/** The rules of a message need more than `MAX_STEPS` steps, or add more than `MAX_ADDED` characters. */
export class TooCostly extends Error {}

/** A step is the visit of a segment or repetition, or a kilobyte of text: less than 0.4 µs. */
const MAX_STEPS = 200_000;
/** A rule may write 1,000 characters into each of 20,000 segments. */
const MAX_ADDED = 1024 * 1024;
const MAX_CHANGES = 1000;
const MAX_SHOWN_CHARACTERS = 200;

export class EditedMessage {
  readonly message: Message;
  readonly #edits: Edited[] = [];
  /** By index, made on demand, since most rules read a few segments. */
  readonly #made: Line[] = [];
  /** Current segments by name. */
  readonly #named = new Map<string, readonly Line[]>();
  #lines: readonly Line[] | undefined;
  #steps = 0;
  #added = 0;
  #isChanged = false;

  /** In OUL, an ORC follows its OBR (HL7 v2.5.1 §7.3.8 to §7.3.10); in other messages it precedes it. */
  readonly isOrcBehindObr: boolean;

  constructor(message: Message, messageType: string) {
    this.message = message;
    this.isOrcBehindObr = messageType === 'OUL';
  }

  /** All segments as sent, dropped ones too. */
  get lines(): readonly Line[] {
    return (this.#lines ??= this.message.segments.map((segment) => this.#line(segment)));
  }

  #line(segment: Segment): Line {
    return (this.#made[segment.index] ??= { segment, fields: undefined, isDropped: false, moved: undefined });
  }

  /** The segments with a name, without dropped ones. */
  named(id: string): readonly Line[] {
    const known = this.#named.get(id);
    if (known !== undefined) return known;
    const found = this.message
      .named(id)
      .map((segment) => this.#line(segment))
      .filter(({ isDropped }) => !isDropped);
    this.spend((this.message.lines.length >> 12) + found.length);
    this.#named.set(id, found);
    return found;
  }

  /** @throws TooCostly beyond the limit */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new TooCostly();
  }

  /** The current raw field; `''` if absent. */
  field({ segment, fields }: Line, number: number): string {
    const raw = (fields === undefined ? segment.field(number) : fields[number]) ?? '';
    if (raw.length >= 1024) this.spend(raw.length >> 10);
    return raw;
  }

  /** Checks for a value that stands for a document, which no rule may change. */
  hasDocument(raw: string): boolean {
    return this.message.documents.size > 0 && raw.includes('\u0001');
  }

  /**
   * @param after the raw field
   * @param moved the sent number of each repetition; null where positions no longer correspond; undefined if they do
   */
  write(line: Line, field: number, after: string, rule: number, moved?: readonly number[] | null): void {
    const before = this.field(line, field);
    if (after === before) return;
    const { segment } = line;
    if (line.fields === undefined) this.spend((segment.end - segment.start) >> 6);
    const fields = (line.fields ??= segment.fields());
    const filled = Math.max(0, field - fields.length);
    this.#added += Math.max(0, after.length - before.length) + filled;
    if (this.#added > MAX_ADDED) throw new TooCostly();
    this.spend(4 + ((before.length + after.length) >> 6));
    if (this.#edits.length < MAX_CHANGES) {
      const sent = this.movedOf(line, field);
      this.#edits.push({ rule, segment, field, before, after, sent, isMoving: moved !== undefined });
    }
    while (fields.length < field) fields.push('');
    fields[field] = after;
    if (moved !== undefined) (line.moved ??= new Map()).set(field, moved);
    this.#isChanged = true;
  }

  drop(line: Line, rule: number): void {
    const { segment } = line;
    if (this.#edits.length < MAX_CHANGES) {
      const before = rawOf(line);
      this.#edits.push({ rule, segment, field: 0, before, after: '', sent: undefined, isMoving: true });
    }
    line.isDropped = true;
    this.#named.delete(segment.id);
    this.#isChanged = true;
  }

  /** The sent numbers of the current repetitions of a field: undefined as sent, null where they no longer correspond. */
  movedOf(line: Line, field: number): readonly number[] | null | undefined {
    return line.moved?.get(field);
  }

  /** The first changes, located and shortened. */
  changes(): Change[] {
    return this.#edits.map(({ rule, segment, field, before, after, sent, isMoving }) => {
      const isPlaced = !isMoving && sent !== null;
      const found = isPlaced ? differenceOf(before, after, this.message.delimiters) : { numbers: [], before, after };
      const [repetition, ...below] = found.numbers;
      const numbers = repetition === undefined ? [] : [sent?.[repetition - 1] ?? repetition, ...below];
      const at = field === 0 ? locate(segment) : locate(segment, field, ...numbers);
      return { rule, at, before: this.#shown(found.before), after: this.#shown(found.after) };
    });
  }

  /** The message with the changes; the message itself without any. */
  print(): Message {
    const { message } = this;
    if (!this.#isChanged) return message;
    const { lines } = message;
    let text = '';
    let written = 0;
    this.#made.forEach((line) => {
      if (line.fields === undefined && !line.isDropped) return;
      const { start, end } = line.segment;
      text += lines.slice(written, start);
      if (!line.isDropped) text += rawOf(line);
      // A dropped line is dropped with its end.
      written = line.isDropped && end < lines.length ? end + 1 : end;
    });
    text += lines.slice(written);
    return text === lines ? message : withLines(message, text);
  }

  /** Translates a location in the printed message to one in the sent message; it ends where positions no longer correspond. */
  placeOf(at: string): string {
    const [id = '', sequence = '', field, repetition, ...below] = at.split('^');
    if (!this.#isChanged || !isSegmentId(id)) return at;
    const line = this.named(id)[Number(sequence) - 1];
    if (line === undefined) return at;
    const start = locate(line.segment);
    if (field === undefined) return start;
    const moved = this.movedOf(line, Number(field));
    const sent = moved === undefined ? repetition : moved?.[Number(repetition) - 1];
    return [start, field, ...(sent === undefined ? [] : [sent, ...below])].join('^');
  }

  #shown(raw: string): string {
    const text = this.hasDocument(raw) && documentTokens(raw).length > 0 ? withNotes(raw) : raw;
    return text.length > MAX_SHOWN_CHARACTERS ? text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed() : text;
  }
}

const rawOf = ({ segment, fields }: Line): string =>
  fields === undefined ? segment.raw : fields.join(segment.source.delimiters.field);
