/** What is said of a statement that came after a newer one: to the sender, and of a correction to the administrator. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { Order } from './order.ts';

export function noteStale(segment: Segment, context: MapContext): void {
  const message = `something newer is known than ${segment.id} says: it changed only what was not known yet`;
  note(context, 'W', '205', locate(segment), message, 'stale');
}

/** Somebody took a result back or corrected it, and what stands is newer: which of the two is right, a person must see. */
export function attendStaleCorrection(
  { segment }: { readonly segment: Segment },
  draft: Draft,
  patient: Draft,
  order: Order,
  context: MapContext,
): void {
  const { type, id } = draft;
  // The same correction sent again under another control id is listed once.
  const when = order.split('|').slice(1, 3).join('|');
  context.attend({
    kind: 'stale-correction',
    patients: [patient.id],
    about: `${type}/${id} ${when}`,
    detail: { type, id, at: locate(segment) },
  });
}
