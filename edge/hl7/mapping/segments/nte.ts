/** NTE as Annotation (v2-to-FHIR `NTE[Observation]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { practitioner } from '../datatypes/party.ts';
import { first, joinLines, linesOf, members } from '../datatypes/text.ts';
import { dateTime } from '../datatypes/time.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import type { GroupSegment } from './rule.ts';

export const NTE: GroupSegment = { name: 'NTE' };

/**
 * NTE-3 with its repetitions as lines: rows 5 of `NTE[Observation]` and `NTE[DocumentReference]`. Spaces at the start stay, because
 * many laboratories send a table as one NTE for each line.
 */
export const commentText = (segment: Segment): string | undefined => joinLines(linesOf(segment, 3));

/** Rows 5, 7 and 8. */
export function annotation(segment: Segment, context: MapContext): JsonObject | undefined {
  const text = commentText(segment);
  if (text === undefined) return undefined;
  const by = first(segment, 5);
  const authorReference = by && practitioner(by, context);
  const time = dateTime(first(segment, 6), context);
  return members({ authorReference, time, text });
}

/** The notes of one observation. */
export function annotations(segments: readonly Segment[], context: MapContext): Contribution[] {
  const notes = segments.map((segment) => annotation(segment, context)).filter((found) => found !== undefined);
  return notes.length === 0 ? [] : [fixed('note', notes, 'NTE')];
}
