/** What is said of a patient that cannot be told; the identifier itself, which is patient data, is not repeated. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { textOf } from '../mapping/datatypes/text.ts';
import { identifierPlace, identifyingPart, type IdentifierField } from './identifying.ts';

/** The type of the identifier, which is no patient data, so that the sender knows which of several is meant. */
function kind(segment: Segment, field: IdentifierField): string {
  const type = textOf(identifyingPart(segment, field), 5);
  return type === undefined || !/^[A-Z]{1,5}$/.test(type) ? 'the identifier' : `the identifier of type ${type}`;
}

export function noteAmbiguous(segment: Segment, field: IdentifierField, context: MapContext): void {
  const message = `${kind(segment, field)} in ${segment.id}-${field} matches more than one patient`;
  note(context, 'E', '205', identifierPlace(segment, field), message, 'ambiguous-patient');
}

export function noteUnknown(segment: Segment, field: IdentifierField, severity: 'E' | 'W', context: MapContext): void {
  const message = `${kind(segment, field)} in ${segment.id}-${field} matches no patient`;
  note(context, severity, '204', identifierPlace(segment, field), message, 'unknown-patient');
}
