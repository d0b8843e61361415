/**
 * Reading a value by its numbers: field, repetition, component, subcomponent, each from 1 (HL7 v2.5.1 §2.5.3, §2.6).
 * Four results: `undefined` absent, `''` empty (leave what is stored), `null` for `""` (delete what is stored), text.
 */
import { unescape } from './escapes.ts';
import { isSegmentId, MAX_SCANNED, type Segment } from './segment.ts';

/** Absent: nothing at that position was sent, not even its separator. Empty: sent with nothing in it. */
export type Value = string | null | undefined;

/** HL7's explicit null (§2.5.3). */
const NULL = '""';

export type Presence = 'absent' | 'empty' | 'null' | 'value';

export function presenceOf(value: Value): Presence {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return value === '' ? 'empty' : 'value';
}

/**
 * The text at a position. A level that is not given is its first: a receiver of a later version reads the first
 * component of what once was a simple field (§2.8.2).
 */
export function valueAt(segment: Segment, field: number, repetition = 1, component = 1, subcomponent = 1): Value {
  if (isVerbatim(segment, field)) return rawAt(segment, field, repetition, component, subcomponent);
  if (segment.source.lines.length <= MAX_SCANNED) return segment.scan(field, repetition, component, subcomponent);
  return leafOrAbsent(rawAt(segment, field, repetition, component, subcomponent), segment);
}

/**
 * What stands at a position, neither unescaped nor split below the deepest level given; undefined when absent.
 * `rawAt(pid, 3)` is the whole of PID-3 with its repetitions.
 */
export function rawAt(
  segment: Segment,
  field: number,
  repetition?: number,
  component?: number,
  subcomponent?: number,
): string | undefined {
  let raw = segment.field(field);
  if (raw === undefined || repetition === undefined) return raw;
  if (isVerbatim(segment, field)) {
    return repetition === 1 && (component ?? 1) === 1 && (subcomponent ?? 1) === 1 ? raw : undefined;
  }
  const { delimiters } = segment.source;
  raw = piece(raw, delimiters.repetition, repetition);
  if (raw === undefined || component === undefined) return raw;
  raw = piece(raw, delimiters.component, component);
  if (raw === undefined || subcomponent === undefined) return raw;
  return piece(raw, delimiters.subcomponent, subcomponent);
}

/** Whether a field was sent at all, sent empty, sent as `""`, or sent with a value. */
export function fieldPresence(segment: Segment, field: number): Presence {
  const raw = segment.field(field);
  return presenceOf(raw === NULL ? null : raw);
}

/** One repetition of a field, or one component of it: what a datatype is read from. */
export interface Part {
  readonly segment: Segment;
  readonly field: number;
  readonly repetition: number;
  /** 0 for a whole repetition, whose children are components; else the children are subcomponents. */
  readonly component: number;
  readonly raw: string;
}

/**
 * The repetitions of a field, with their numbers; none when it is absent or empty. `""` is one repetition.
 *
 * @param most no more than the first so many are read
 */
export function repetitions(segment: Segment, field: number, most?: number): Part[] {
  const raw = segment.field(field);
  if (raw === undefined || raw === '') return [];
  const raws = isVerbatim(segment, field) ? [raw] : raw.split(segment.source.delimiters.repetition, most);
  return raws.map((raw, at) => ({ segment, field, repetition: at + 1, component: 0, raw }));
}

/** The whole of each repetition as a text, as `partText` gives it: a text may come in very many lines. */
export function repetitionTexts(segment: Segment, field: number): Value[] {
  const raw = segment.field(field);
  if (raw === undefined || raw === '') return [];
  if (isVerbatim(segment, field)) return [raw];
  return raw.split(segment.source.delimiters.repetition).map((line) => leaf(line, segment));
}

/** The first repetition of a field, without splitting the rest; undefined when the field is absent or empty. */
export function firstRepetition(segment: Segment, field: number): Part | undefined {
  const all = segment.field(field);
  if (all === undefined || all === '') return undefined;
  const raw = isVerbatim(segment, field) ? all : piece(all, segment.source.delimiters.repetition, 1);
  return raw === undefined ? undefined : { segment, field, repetition: 1, component: 0, raw };
}

/** The nth child of a part: of a repetition the component (its first subcomponent), of a component the subcomponent. */
export function child(part: Part, number: number): Value {
  if (isVerbatim(part.segment, part.field)) return number === 1 ? part.raw : undefined;
  const { component, subcomponent } = part.segment.source.delimiters;
  if (part.component > 0) return leafOrAbsent(piece(part.raw, subcomponent, number), part.segment);
  const raw = piece(part.raw, component, number);
  return raw === undefined ? undefined : leafOrAbsent(piece(raw, subcomponent, 1), part.segment);
}

/** The nth component of a repetition as a part of its own, such as the HD in PID-3.4; undefined when absent. */
export function componentOf(part: Part, number: number): Part | undefined {
  if (part.component > 0 || isVerbatim(part.segment, part.field)) return undefined;
  const raw = piece(part.raw, part.segment.source.delimiters.component, number);
  return raw === undefined ? undefined : { ...part, component: number, raw };
}

/**
 * The whole of a part as one text, separators and all: for ST, TX and FT, where `Smith & Jones` is a separator that
 * the sender forgot to escape and not a subcomponent.
 */
export function partText(part: Part): Value {
  return isVerbatim(part.segment, part.field) ? part.raw : leaf(part.raw, part.segment);
}

/**
 * A place as ERR-2 writes it (§2.15.5.2): segment, sequence, field, repetition, component, subcomponent. It names
 * positions only, so that it may go where no patient data may: a name that is no segment's is given as `???`.
 */
export function locate(segment: Segment, ...numbers: readonly number[]): string {
  return [isSegmentId(segment.id) ? segment.id : '???', segment.sequence, ...numbers].join('^');
}

/** The place of a part, or of its nth child. */
export function locatePart(part: Part, number?: number): string {
  const { segment, field, repetition, component } = part;
  const below = [component, number ?? 0].filter((step) => step > 0);
  return locate(segment, field, repetition, ...below);
}

/** A place as ERR-2 writes it (`PID^1^3^2^1`), for people: `PID-3[2].1`. */
export function pathOf(place: string): string {
  const [segment = '', sequence, field, repetition, ...below] = place.split('^');
  const which = (number: string | undefined): string => (number === undefined || number === '1' ? '' : `[${number}]`);
  if (field === undefined) return segment + which(sequence);
  return [`${segment}${which(sequence)}-${field}${which(repetition)}`, ...below].join('.');
}

const isVerbatim = (segment: Segment, field: number): boolean => field <= 2 && segment.isDeclaring;

function leaf(raw: string, segment: Segment): string | null {
  return raw === NULL ? null : unescape(raw, segment.source);
}

function leafOrAbsent(raw: string | undefined, segment: Segment): Value {
  return raw === undefined ? undefined : leaf(raw, segment);
}

/** How often a separator stands in a text; an empty one separates nothing. */
export function countOf(text: string, separator: string): number {
  if (separator === '') return 0;
  let found = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) found += 1;
  return found;
}

/** The nth piece between separators, without splitting the rest; an empty separator separates nothing. */
function piece(raw: string, separator: string, number: number): string | undefined {
  if (separator === '') return number === 1 ? raw : undefined;
  let start = 0;
  let end = raw.indexOf(separator);
  for (let at = 1; at < number; at += 1) {
    if (end < 0) return undefined;
    start = end + 1;
    end = raw.indexOf(separator, start);
  }
  if (number < 1) return undefined;
  return end < 0 ? (start === 0 ? raw : raw.slice(start)) : raw.slice(start, end);
}
