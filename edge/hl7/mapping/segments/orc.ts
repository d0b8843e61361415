/** The order numbers of a result: those of OBR, else of its ORC (v2-to-FHIR `ORC[DiagnosticReport]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { Part } from '../../../../shared/hl7/value.ts';
import { first, textOf } from '../datatypes/text.ts';
import { conceptKey } from '../key.ts';
import type { GroupSegment } from './rule.ts';

export const ORC: GroupSegment = { name: 'ORC' };

/** `ORC[DiagnosticReport]` 4 and 8 count only without OBR-2 and OBR-3: the numbers are the same. */
export function orderNumber(obr: Segment, orc: Segment | undefined, field: 2 | 3): Part | undefined {
  const own = first(obr, field);
  if (textOf(own, 1) !== undefined) return own;
  const common = orc === undefined ? undefined : first(orc, field);
  return textOf(common, 1) === undefined ? undefined : common;
}

/** The field of an order number: `OBR-2`. */
export const orderNumberField = (obr: Segment, field: 2 | 3): string =>
  textOf(first(obr, field), 1) === undefined ? `ORC-${field}` : `OBR-${field}`;

/** Each of the numbers finds the order's results. */
export interface OrderNumbers {
  readonly placer: Part | undefined;
  readonly filler: Part | undefined;
}

export const orderNumbers = (obr: Segment, orc: Segment | undefined): OrderNumbers => ({
  placer: orderNumber(obr, orc, 2),
  filler: orderNumber(obr, orc, 3),
});

/** The substitute for order numbers: the ordered service, and its time as sent. */
export function orderWithoutNumber(
  obr: Segment | undefined,
  { placer, filler }: OrderNumbers,
  time: string | undefined,
): readonly (string | undefined)[] {
  if (placer !== undefined || filler !== undefined) return [];
  return ['order', ...(obr === undefined ? [] : conceptKey(first(obr, 4))), time];
}
