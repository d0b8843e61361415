/** A message as a table for people: each segment, each field that was sent, by the standard's own names, and what is wrong with it. */
import { charsetNamed } from '../../../shared/hl7/charset.ts';
import { Fault } from '../../../shared/fault.ts';
import { type Message, readMessage, type Segment } from '../../../shared/hl7/message.ts';
import { child, componentOf, type Part, rawAt, repetitions, valueAt } from '../../../shared/hl7/value.ts';
import { fieldName, segmentName } from './hl7-names.ts';
import { componentName, fieldType } from './hl7-types.ts';

/** What was found wrong: its place is ERR-2 (`PID^1^3^1^4`). */
export interface Finding {
  readonly code?: string | undefined;
  readonly severity?: string | undefined;
  readonly message?: string | undefined;
  readonly at?: string | undefined;
  /** ERR-5. */
  readonly reason?: string | undefined;
}

export interface ComponentView {
  readonly number: number;
  readonly name: string | null;
  /** Escapes resolved; where it has subcomponents, as sent. */
  readonly value: string;
}

export interface FieldView {
  /** `PID-5`. */
  readonly path: string;
  readonly name: string | null;
  /** As sent, delimiters and escapes in place. */
  readonly value: string;
  /** Its repetitions by their components; none where it is a single value. */
  readonly repetitions: readonly (readonly ComponentView[])[];
  /** What is wrong with it. */
  readonly findings: readonly Finding[];
}

export interface SegmentView {
  readonly id: string;
  readonly name: string | null;
  readonly fields: readonly FieldView[];
  /** What is wrong with the segment as a whole. */
  readonly findings: readonly Finding[];
}

export interface MessageView {
  /** Decoded, segments separated by line feeds. */
  readonly text: string;
  readonly segments: readonly SegmentView[];
  /** Why it cannot be read as a message, if it cannot. */
  readonly problem: string | null;
}

/** Of a field; a long list is read as it was sent. */
const MAX_REPETITIONS = 50;
const MAX_COMPONENTS = 50;

function viewField(segment: Segment, field: number, value: string, findings: readonly Finding[]): FieldView {
  const seen = { path: `${segment.id}-${field}`, name: fieldName(segment.id, field), value, findings };
  const { component, repetition } = segment.source.delimiters;
  const isVerbatim = segment.isDeclaring && field <= 2;
  const type = fieldType(segment.id, field, valueAt(segment, 2) ?? '');
  const hasParts = value.includes(component) && componentName(type, 1) !== null;
  if (isVerbatim || !(hasParts || value.includes(repetition))) return { ...seen, repetitions: [] };
  return {
    ...seen,
    repetitions: repetitions(segment, field)
      .slice(0, MAX_REPETITIONS)
      .map((part) => componentsOf(part, type)),
  };
}

function componentsOf(part: Part, type: string | undefined): ComponentView[] {
  const { component, subcomponent } = part.segment.source.delimiters;
  const count = Math.min(part.raw.split(component).length, MAX_COMPONENTS);
  return Array.from({ length: count }, (_, at) => at + 1).flatMap((number) => {
    const raw = componentOf(part, number)?.raw ?? '';
    const value = raw.includes(subcomponent) ? raw : (child(part, number) ?? raw);
    return value === '' ? [] : [{ number, name: componentName(type, number), value }];
  });
}

/** Those that name this place, down to the field. */
const at = (findings: readonly Finding[], ...place: readonly (string | number)[]): Finding[] =>
  findings.filter(({ at: where = '' }) => {
    const named = where.split('^').slice(0, 3);
    return named.join('^') === place.join('^');
  });

function viewSegments({ segments }: Message, findings: readonly Finding[]): SegmentView[] {
  return segments.map((segment) => {
    const { id, sequence } = segment;
    const sent = segment.fields();
    const named = findings.map(({ at: where = '' }) => where.split('^'));
    const faulty = named
      .filter(([of, n]) => of === id && n === String(sequence))
      .map(([, , field = '0']) => Number(field));
    const last = Math.max(sent.length - 1, ...faulty);
    const numbers = Array.from({ length: last }, (_, n) => n + 1);
    return {
      id,
      name: segmentName(id),
      findings: at(findings, id, sequence),
      fields: numbers
        .map((number) => viewField(segment, number, rawAt(segment, number) ?? '', at(findings, id, sequence, number)))
        .filter(({ value, findings: wrong }) => value !== '' || wrong.length > 0),
    };
  });
}

/**
 * @param defaultCharset of a message that names none
 * @param findings what was found wrong with it
 */
export function viewMessage(
  bytes: Uint8Array,
  defaultCharset: string | null,
  findings: readonly Finding[] = [],
): MessageView {
  const charset = charsetNamed(defaultCharset ?? '');
  try {
    const message = readMessage(bytes, charset === undefined ? {} : { defaultCharset: charset });
    const text = message.segments.map(({ raw }) => raw).join('\n');
    return { text, segments: viewSegments(message, findings), problem: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const text = new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, '\n');
    return { text, segments: [], problem: error.message };
  }
}

/** An ACK as text, segments separated by line feeds. */
export function viewAck(ack: Uint8Array | null): string | null {
  return ack === null ? null : viewMessage(ack, null).text;
}
