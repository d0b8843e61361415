/** A message as a table for people: each segment, each field that was sent, by the standard's own names. */
import { charsetNamed } from '../../../shared/hl7/charset.ts';
import { Fault } from '../../../shared/fault.ts';
import { type Message, readMessage } from '../../../shared/hl7/message.ts';
import { fieldName, segmentName } from './hl7-names.ts';

export interface FieldView {
  /** `PID-5`. */
  readonly path: string;
  readonly name: string | null;
  /** As sent, delimiters and escapes in place. */
  readonly value: string;
}

export interface SegmentView {
  readonly id: string;
  readonly name: string | null;
  readonly fields: readonly FieldView[];
}

export interface MessageView {
  /** Decoded, segments separated by line feeds. */
  readonly text: string;
  readonly segments: readonly SegmentView[];
  /** Why it cannot be read as a message, if it cannot. */
  readonly problem: string | null;
}

function viewSegments({ segments }: Message): SegmentView[] {
  return segments.map((segment) => ({
    id: segment.id,
    name: segmentName(segment.id),
    fields: segment
      .fields()
      .map((value, number) => ({ path: `${segment.id}-${number}`, name: fieldName(segment.id, number), value }))
      .filter(({ value }, number) => number > 0 && value !== ''),
  }));
}

/** @param defaultCharset of a message that names none */
export function viewMessage(bytes: Uint8Array, defaultCharset: string | null): MessageView {
  const charset = charsetNamed(defaultCharset ?? '');
  try {
    const message = readMessage(bytes, charset === undefined ? {} : { defaultCharset: charset });
    const text = message.segments.map(({ raw }) => raw).join('\n');
    return { text, segments: viewSegments(message), problem: null };
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
