/** The action of a segment (HL7 table 0206, segment action code): DG1-21, PR1-20. */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { noteUnknownCode, type MapContext } from '../context.ts';
import { fieldText } from '../datatypes/text.ts';

/** Added, deleted, a snapshot, updated, no change. */
const ACTIONS: ReadonlySet<string> = new Set(['A', 'D', 'S', 'U', 'X']);

/** The code in capitals; undefined without one, or, with a warning, for a code outside the table. */
export function actionOf(segment: Segment, field: number, context: MapContext): string | undefined {
  const sent = fieldText(segment, field)?.toUpperCase();
  if (sent === undefined || ACTIONS.has(sent)) return sent;
  noteUnknownCode(segment, field, 'table 0206', context);
  return undefined;
}
