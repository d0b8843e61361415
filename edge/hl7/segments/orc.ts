/** Which order a result is of: the numbers of OBR, else those of its ORC (v2-to-FHIR `ORC[DiagnosticReport]`). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { rawAt, type Part } from '../../../shared/hl7/value.ts';
import { first, textOf } from '../mapping/datatypes/text.ts';
import { conceptKey, entityKey, join } from '../mapping/key.ts';
import type { GroupSegment } from './rule.ts';

export const ORC: GroupSegment = { name: 'ORC' };

/** `ORC[DiagnosticReport]` 4 and 8 come before OBR-2 and OBR-3 only where OBR says nothing: the numbers are the same. */
export function orderNumber(obr: Segment, orc: Segment | undefined, field: 2 | 3): Part | undefined {
  const own = first(obr, field);
  if (textOf(own, 1) !== undefined) return own;
  const common = orc === undefined ? undefined : first(orc, field);
  return textOf(common, 1) === undefined ? undefined : common;
}

/** OBR-3, else OBR-2; without either what was ordered and when. */
export function orderKey(obr: Segment | undefined, number: Part | undefined): string {
  if (obr === undefined) return '';
  return number === undefined ? join('order', ...conceptKey(first(obr, 4)), rawAt(obr, 7)) : join(...entityKey(number));
}
