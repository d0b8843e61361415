/** Which order a result is of: the numbers of OBR, else those of its ORC (v2-to-FHIR `ORC[DiagnosticReport]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { Part } from '../../../../shared/hl7/value.ts';
import { first, textOf } from '../datatypes/text.ts';
import { conceptKey } from '../key.ts';
import type { GroupSegment } from './rule.ts';

export const ORC: GroupSegment = { name: 'ORC' };

/** `ORC[DiagnosticReport]` 4 and 8 come before OBR-2 and OBR-3 only where OBR says nothing: the numbers are the same. */
export function orderNumber(obr: Segment, orc: Segment | undefined, field: 2 | 3): Part | undefined {
  const own = first(obr, field);
  if (textOf(own, 1) !== undefined) return own;
  const common = orc === undefined ? undefined : first(orc, field);
  return textOf(common, 1) === undefined ? undefined : common;
}

/** The numbers of an order; each of them finds its results. */
export interface OrderNumbers {
  readonly placer: Part | undefined;
  readonly filler: Part | undefined;
}

export const orderNumbers = (obr: Segment, orc: Segment | undefined): OrderNumbers => ({
  placer: orderNumber(obr, orc, 2),
  filler: orderNumber(obr, orc, 3),
});

/** What stands in the place of the numbers of an order that has none: what was ordered, and when as it was sent. */
export function orderWithoutNumber(
  obr: Segment | undefined,
  { placer, filler }: OrderNumbers,
  time: string | undefined,
): readonly (string | undefined)[] {
  if (placer !== undefined || filler !== undefined) return [];
  return ['order', ...(obr === undefined ? [] : conceptKey(first(obr, 4))), time];
}
