/**
 * Reads a value by field, repetition, component and subcomponent, each from 1 (HL7 v2.5.1 §2.5.3, §2.6). The result is
 * `undefined` for absent, `''` for empty (keep the stored value), `null` for `""` (delete the stored value), or a text.
 */
import { unescape } from './escapes.ts';
import { isSegmentId, MAX_SCANNED, type Segment } from './segment.ts';

/** Absent: the segment ends before the position. Empty: the position was sent without content. */
export type Value = string | null | undefined;

/** The explicit null of HL7 (§2.5.3). */
export const NULL = '""';

export type Presence = 'absent' | 'empty' | 'null' | 'value';

export function presenceOf(value: Value): Presence {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return value === '' ? 'empty' : 'value';
}

/**
 * The text at a position. An omitted level is 1: a receiver of a later version reads the first component of a field that
 * used to be simple (§2.8.2).
 */
export function valueAt(segment: Segment, field: number, repetition = 1, component = 1, subcomponent = 1): Value {
  if (isVerbatim(segment, field)) return rawAt(segment, field, repetition, component, subcomponent);
  if (segment.source.lines.length <= MAX_SCANNED) return segment.scan(field, repetition, component, subcomponent);
  return leafOrAbsent(rawAt(segment, field, repetition, component, subcomponent), segment);
}

/**
 * The raw text at a position, neither unescaped nor split below the deepest level given; undefined if absent. `rawAt(pid, 3)`
 * is PID-3 with its repetitions.
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

/** Distinguishes a field that is absent, empty, `""`, or has a value. */
export function fieldPresence(segment: Segment, field: number): Presence {
  const raw = segment.field(field);
  return presenceOf(raw === NULL ? null : raw);
}

/** One repetition of a field, or one of its components: the input of a datatype. */
export interface Part {
  readonly segment: Segment;
  readonly field: number;
  readonly repetition: number;
  /** 0 for a repetition, whose children are components; otherwise the children are subcomponents. */
  readonly component: number;
  readonly raw: string;
}

/**
 * The repetitions of a field; empty if it is absent or empty. `""` is one repetition.
 *
 * @param most the number of repetitions to read at most
 */
export function repetitions(segment: Segment, field: number, most?: number): Part[] {
  const raw = segment.field(field);
  if (raw === undefined || raw === '') return [];
  const raws = isVerbatim(segment, field) ? [raw] : raw.split(segment.source.delimiters.repetition, most);
  return raws.map((raw, at) => ({ segment, field, repetition: at + 1, component: 0, raw }));
}

/** The text of each repetition, as in `partText`: a text may arrive in very many lines. */
export function repetitionTexts(segment: Segment, field: number): Value[] {
  const raw = segment.field(field);
  if (raw === undefined || raw === '') return [];
  if (isVerbatim(segment, field)) return [raw];
  return raw.split(segment.source.delimiters.repetition).map((line) => leaf(line, segment));
}

/** The first repetition of a field, without splitting the rest; undefined if the field is absent or empty. */
export function firstRepetition(segment: Segment, field: number): Part | undefined {
  const all = segment.field(field);
  if (all === undefined || all === '') return undefined;
  const raw = isVerbatim(segment, field) ? all : piece(all, segment.source.delimiters.repetition, 1);
  return raw === undefined ? undefined : { segment, field, repetition: 1, component: 0, raw };
}

/** The nth child of a part: a component (its first subcomponent) of a repetition, a subcomponent of a component. */
export function child(part: Part, number: number): Value {
  if (isVerbatim(part.segment, part.field)) return number === 1 ? part.raw : undefined;
  const { component, subcomponent } = part.segment.source.delimiters;
  if (part.component > 0) return leafOrAbsent(piece(part.raw, subcomponent, number), part.segment);
  const raw = piece(part.raw, component, number);
  return raw === undefined ? undefined : leafOrAbsent(piece(raw, subcomponent, 1), part.segment);
}

/**
 * The nth child of a part as in `partText`: the text of a component includes its subcomponents. Empty ones at the end are left
 * out.
 */
export function childText(part: Part, number: number): Value {
  if (part.component > 0 || isVerbatim(part.segment, part.field)) return child(part, number);
  const { component, subcomponent } = part.segment.source.delimiters;
  const raw = piece(part.raw, component, number);
  if (raw === undefined || subcomponent === '') return leafOrAbsent(raw, part.segment);
  let end = raw.length;
  while (raw[end - 1] === subcomponent) end -= 1;
  return leaf(raw.slice(0, end), part.segment);
}

/** The nth component of a repetition as a part, such as the HD in PID-3.4; undefined if absent. */
export function componentOf(part: Part, number: number): Part | undefined {
  if (part.component > 0 || isVerbatim(part.segment, part.field)) return undefined;
  const raw = piece(part.raw, part.segment.source.delimiters.component, number);
  return raw === undefined ? undefined : { ...part, component: number, raw };
}

/**
 * The text of a part including separators: in ST, TX and FT, `Smith & Jones` contains a separator that the sender forgot to
 * escape, not a subcomponent.
 */
export function partText(part: Part): Value {
  return isVerbatim(part.segment, part.field) ? part.raw : leaf(part.raw, part.segment);
}

/**
 * A location as in ERR-2 (§2.15.5.2): segment, sequence, field, repetition, component, subcomponent. It contains no patient
 * data: an invalid segment name is written as `???`.
 */
export function locate(segment: Segment, ...numbers: readonly number[]): string {
  return [isSegmentId(segment.id) ? segment.id : '???', segment.sequence, ...numbers].join('^');
}

/** The location of a part, or of its nth child. */
export function locatePart(part: Part, number?: number): string {
  const { segment, field, repetition, component } = part;
  const below = [component, number ?? 0].filter((step) => step > 0);
  return locate(segment, field, repetition, ...below);
}

/** The location of ERR-2 (`PID^1^3^2^1`) for people: `PID-3[2].1`. */
export function pathOf(place: string): string {
  const [segment = '', sequence, field, repetition, ...below] = place.split('^');
  const which = (number: string | undefined): string => (number === undefined || number === '1' ? '' : `[${number}]`);
  if (field === undefined) return segment + which(sequence);
  return [`${segment}${which(sequence)}-${field}${which(repetition)}`, ...below].join('.');
}

/** As `pathOf`, without a position that names the complete field: `PID-3` for `PID^1^3^1^1`, `PID-3.4` for `PID^1^3^1^4`. */
export function shortPathOf(place: string): string {
  const [segment = '', sequence = '', field, repetition, ...below] = place.split('^');
  const isComplete =
    (repetition === undefined || repetition === '1') && below.length > 0 && below.every((part) => part === '1');
  return pathOf(isComplete && field !== undefined ? [segment, sequence, field].join('^') : place);
}

const isVerbatim = (segment: Segment, field: number): boolean => field <= 2 && segment.isDeclaring;

function leaf(raw: string, segment: Segment): string | null {
  return raw === NULL ? null : unescape(raw, segment.source);
}

function leafOrAbsent(raw: string | undefined, segment: Segment): Value {
  return raw === undefined ? undefined : leaf(raw, segment);
}

/** The number of separators in a text; an empty separator occurs nowhere. */
export function countOf(text: string, separator: string): number {
  if (separator === '') return 0;
  let found = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) found += 1;
  return found;
}

/** The pieces between separators; an empty separator divides nothing. */
export const splitBy = (raw: string, separator: string): string[] => (separator === '' ? [raw] : raw.split(separator));

/** The nth piece between separators, without splitting the rest; an empty separator divides nothing. */
export function piece(raw: string, separator: string, number: number): string | undefined {
  if (separator === '') return number === 1 ? raw : undefined;
  let start = 0;
  let end = raw.indexOf(separator);
  for (let at = 1; at < number; at += 1) {
    if (end < 0) return undefined;
    start = end + 1;
    end = raw.indexOf(separator, start);
  }
  if (number < 1) return undefined;
  return raw.slice(start, end < 0 ? undefined : end);
}
