/** A message as a table for people: each segment, each field that was sent, by the standard's own names, and what is wrong with it. */
import { charsetNamed } from '../../../shared/hl7/charset.ts';
import { Fault } from '../../../shared/fault.ts';
import { withDocuments, withNotes } from '../../../shared/hl7/document-token.ts';
import { type Message, readMessage, type Segment } from '../../../shared/hl7/message.ts';
import { child, countOf, type Part, repetitions, valueAt } from '../../../shared/hl7/value.ts';
import { fieldName, segmentName } from './hl7-names.ts';
import { componentName, fieldType } from '../../../shared/hl7/field-types.ts';

/** An error or a warning; its place is ERR-2 (`PID^1^3^1^4`). */
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
  /** Repetitions that are not listed. */
  readonly moreRepetitions: number;
  readonly findings: readonly Finding[];
}

export interface SegmentView {
  readonly id: string;
  readonly name: string | null;
  readonly fields: readonly FieldView[];
  /** Fields with a value that are not listed. */
  readonly moreFields: number;
  /** About the segment itself. */
  readonly findings: readonly Finding[];
}

export interface MessageView {
  /** Decoded, segments separated by line feeds. */
  readonly text: string;
  readonly segments: readonly SegmentView[];
  /** Segments that are not listed; `text` has them all. */
  readonly moreSegments: number;
  /** Why it cannot be read as a message, if it cannot. */
  readonly problem: string | null;
}

/** The limits of a message. The text has all segments. */
const MAX_SEGMENTS = 1000;
/** Segments with findings are listed also beyond the other limits, so many at most. */
const MAX_FAULTY = 1000;
const MAX_FIELDS = 10_000;
const MAX_COMPONENTS = 20_000;
/** For one segment, field or repetition. */
const MAX_FIELDS_OF_SEGMENT = 200;
const MAX_REPETITIONS = 50;
const MAX_COMPONENTS_OF_REPETITION = 50;

/** How many more of each may be listed. */
interface Room {
  segments: number;
  faulty: number;
  fields: number;
  components: number;
}

function viewField(segment: Segment, { field, value, type, findings }: Seen, room: Room): FieldView {
  const seen = { path: `${segment.id}-${field}`, name: fieldName(segment.id, field), value, findings };
  const { component, repetition } = segment.source.delimiters;
  const isVerbatim = segment.isDeclaring && field <= 2;
  const hasParts = value.includes(component) && componentName(type, 1) !== null;
  if (isVerbatim || !(hasParts || value.includes(repetition))) return { ...seen, repetitions: [], moreRepetitions: 0 };
  const listed: ComponentView[][] = [];
  for (const part of repetitions(segment, field, MAX_REPETITIONS)) {
    const components = componentsOf(part, type);
    if (components.length > room.components) break;
    room.components -= components.length;
    listed.push(components);
  }
  return { ...seen, repetitions: listed, moreRepetitions: countOf(value, repetition) + 1 - listed.length };
}

/** A field as it was sent. */
interface Seen {
  readonly field: number;
  readonly value: string;
  /** Its data type. */
  readonly type: string | undefined;
  readonly findings: readonly Finding[];
}

function componentsOf(part: Part, type: string | undefined): ComponentView[] {
  const { component, subcomponent } = part.segment.source.delimiters;
  return part.raw.split(component, MAX_COMPONENTS_OF_REPETITION).flatMap((raw, at) => {
    const number = at + 1;
    const value = raw.includes(subcomponent) ? raw : (child({ ...part, component: number, raw }, 1) ?? raw);
    return value === '' ? [] : [{ number, name: componentName(type, number), value }];
  });
}

/** Findings by the place that they name, down to the field: `PID^1^3`. */
function byPlace(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  return Map.groupBy(findings, ({ at = '' }) => at.split('^').slice(0, 3).join('^'));
}

function viewSegments(
  { segments }: Message,
  findings: readonly Finding[],
): Pick<MessageView, 'segments' | 'moreSegments'> {
  const room: Room = { segments: MAX_SEGMENTS, faulty: MAX_FAULTY, fields: MAX_FIELDS, components: MAX_COMPONENTS };
  const found = byPlace(findings);
  const faulty = Map.groupBy(found.keys(), (place) => place.split('^').slice(0, 2).join('^'));
  const listed = segments.flatMap((segment): SegmentView[] => {
    const place = `${segment.id}^${segment.sequence}`;
    const places = faulty.get(place) ?? [];
    const hasRoom = room.segments > 0 && room.fields > 0;
    if (!hasRoom && (places.length === 0 || room.faulty === 0)) return [];
    room[hasRoom ? 'segments' : 'faulty'] -= 1;
    return [viewSegment(segment, place, places, found, room)];
  });
  return { segments: listed, moreSegments: segments.length - listed.length };
}

/**
 * @param place `PID^1`
 * @param places with findings
 */
function viewSegment(
  segment: Segment,
  place: string,
  places: readonly string[],
  found: ReadonlyMap<string, readonly Finding[]>,
  room: Room,
): SegmentView {
  const { id } = segment;
  const sent = segment.fields();
  const valued = sent.flatMap((value, field) => (field > 0 && value !== '' ? [field] : []));
  const faulty = places.map((each) => Number(each.split('^')[2] ?? 0)).filter((field) => field > 0);
  const first = valued.slice(0, Math.min(MAX_FIELDS_OF_SEGMENT, Math.max(0, room.fields)));
  const numbers = [...new Set([...first, ...faulty])].sort((a, b) => a - b);
  room.fields -= numbers.length;
  const valueType = valueAt(segment, 2) ?? '';
  const fields = numbers.map((field) => {
    const value = sent[field] ?? '';
    const type = fieldType(id, field, valueType);
    return viewField(segment, { field, value, type, findings: found.get(`${place}^${field}`) ?? [] }, room);
  });
  return {
    id,
    name: segmentName(id),
    findings: found.get(place) ?? [],
    fields,
    moreFields: valued.length - fields.filter(({ value }) => value !== '').length,
  };
}

/**
 * @param defaultCharset for a message without MSH-18
 * @param documents base64 by hash, if `bytes` has tokens for them
 */
export function viewMessage(
  bytes: Uint8Array,
  defaultCharset: string | null,
  findings: readonly Finding[] = [],
  documents?: ReadonlyMap<string, string>,
): MessageView {
  const charset = charsetNamed(defaultCharset ?? '');
  const filled = (text: string): string => (documents === undefined ? text : withDocuments(text, documents));
  try {
    const message = readMessage(bytes, charset === undefined ? {} : { defaultCharset: charset });
    const text = message.segments.map(({ raw }) => raw).join('\n');
    const shown = documents === undefined ? message : readMessage(withNotes(text));
    return { text: filled(text), ...viewSegments(shown, findings), problem: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const text = new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, '\n');
    return { text: filled(text), segments: [], moreSegments: 0, problem: error.message };
  }
}

/** An ACK as text, segments separated by line feeds. */
export function viewAck(ack: Uint8Array | null): string | null {
  return ack === null ? null : viewMessage(ack, null).text;
}
