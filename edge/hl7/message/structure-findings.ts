/** Findings about a message's segments: missing, misplaced, or mapped to nothing. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { isSegmentId, type Message, type Segment } from '../../../shared/hl7/message.ts';
import { withNotes } from '../../../shared/hl7/document-token.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { controlOf } from '../mapping/datatypes/text.ts';
import { isKnown } from '../mapping/segments/registry.ts';

export type Report = (finding: AckError) => void;

export const missing = (at: string, message: string): AckError => ({
  code: '101',
  severity: 'E',
  at,
  message,
  reason: 'required-field-missing',
});

export const misplaced = (segment: Segment, after: string): AckError => ({
  code: '100',
  severity: 'E',
  at: locate(segment),
  message: `${segment.id} needs ${after} before it.`,
  reason: 'segment-sequence',
});

/** Segments that come between an OBX and its NTE: TCD and SID of an OUL (HL7 v2.5.1 §7.3.7), PRT since version 2.7. */
const BEFORE_NOTES: ReadonlySet<string> = new Set(['NTE', 'TCD', 'SID', 'PRT']);

/** The name of the segment that an NTE after this segment belongs to. @param behind the same of the segment before */
export const notedSegment = ({ id }: Segment, behind: string): string => (BEFORE_NOTES.has(id) ? behind : id);

/**
 * One finding for each run of NTE after a patient, an order or a specimen, whose notes are not stored.
 *
 * @param mapped notes that are stored, beside those after an OBX
 */
export function reportOtherNotes(members: readonly Segment[], mapped: readonly Segment[], report: Report): void {
  const kept = new Set(mapped);
  const isNote = (segment: Segment | undefined): boolean => segment?.id === 'NTE' && !kept.has(segment);
  let behind = '';
  for (const [at, segment] of members.entries()) {
    behind = notedSegment(segment, behind);
    if (!isNote(segment) || isNote(members[at - 1]) || behind === 'OBX') continue;
    report(leftOut(segment, `This note of ${isSegmentId(behind) ? behind : 'the patient'}`));
  }
}

/** One finding for each of the segment types, which are mapped in messages of other types. */
export function reportLeftOut(members: readonly Segment[], names: readonly string[], report: Report): void {
  for (const name of names) {
    const segment = members.find(({ id }) => id === name);
    if (segment !== undefined) report(leftOut(segment, `Segment ${name}`));
  }
}

const leftOut = (segment: Segment, what: string): AckError => ({
  code: '0',
  severity: 'I',
  at: locate(segment),
  message: `${what} was stored with the message and not mapped.`,
  reason: 'segment-not-mapped',
});

/** Its sender has probably lost the rest of a segment. */
const withoutName = (segment: Segment): AckError => ({
  ...leftOut(segment, 'A line without a segment name'),
  code: '100',
  severity: 'W',
});

/** One finding for the first control character: the texts have a line break or a space instead. */
export function reportControls(message: Message, report: Report): void {
  // U+0001 marks a document.
  const controlIn = (text: string) => controlOf(message.documents.size === 0 ? text : withNotes(text));
  if (controlIn(message.lines) === undefined) return;
  for (const segment of message.segments) {
    const control = controlIn(segment.raw);
    if (control === undefined) continue;
    const field = segment.fields().findIndex((text) => controlIn(text) !== undefined);
    const name = `0x${control.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    report({
      code: '102',
      severity: 'W',
      at: field > 0 ? locate(segment, field) : locate(segment),
      message: `A control character (${name}) is in the text. FHIR cannot have it: a line break or a space replaces each.`,
      reason: 'control-character',
    });
    return;
  }
}

/** One finding for each segment type that is stored with the message and mapped to nothing. */
export function reportUnmapped(message: Message, report: Report): void {
  const seen = new Set<string>();
  for (const segment of message.segments) {
    const name = isSegmentId(segment.id) ? segment.id : '???';
    if (isKnown(name) || seen.has(name)) continue;
    seen.add(name);
    report(name === '???' ? withoutName(segment) : leftOut(segment, `Segment ${name}`));
  }
}
