/** The identifier by which a segment means its patient: one repetition of PID-3 or MRG-1 (edge/README.md, HL7 v2). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locatePart, repetitions, type Part } from '../../../shared/hl7/value.ts';
import { textOf } from '../mapping/datatypes/text.ts';

/** PID-3 or MRG-1. */
export type IdentifierField = 3 | 1;

/** The repetition that identifies the patient: the one of type MR, else the first with a value. */
export function identifyingPart(segment: Segment, field: IdentifierField): Part | undefined {
  const valued = repetitions(segment, field).filter((part) => textOf(part, 1) !== undefined);
  return valued.find((part) => textOf(part, 5) === 'MR') ?? valued[0];
}

/** What patients are looked up by. */
export const identifyingValue = (segment: Segment, field: IdentifierField): string | undefined =>
  textOf(identifyingPart(segment, field), 1);

/** Where it stands, as ERR-2 writes it. */
export function identifierPlace(segment: Segment, field: IdentifierField): string {
  const part = identifyingPart(segment, field);
  return part === undefined ? `${segment.id}^${segment.sequence}^${field}` : locatePart(part, 1);
}
