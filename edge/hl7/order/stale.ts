/** What is said of a statement that came after a newer one: to the sender, and of a correction to the administrator. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import type { AttentionKind } from '../../store/attention.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { Order } from './order.ts';

export function noteStale(segment: Segment, context: MapContext): void {
  const message = `something newer is known than ${segment.id} says: it changed only what was not known yet`;
  note(context, 'W', '205', locate(segment), message, 'stale');
}

/** A sender corrected or withdrew a result, and what stands is newer: a person must see which of the two is right. */
export const attendStaleCorrection: Attend = (...about) => attendTo('stale-correction', ...about);

/** A withdrawal hides a statement of its own time: a person must see whether the other was stated after it. */
export const attendTie: Attend = (...about) => attendTo('tied-withdrawal', ...about);

type Attend = (
  statement: { readonly segment: Segment },
  draft: Draft,
  patient: Draft,
  order: Order,
  context: MapContext,
) => void;

function attendTo(kind: AttentionKind, ...[{ segment }, draft, patient, order, context]: Parameters<Attend>): void {
  const { type, id } = draft;
  // The same statement sent again under another control id is listed once; what ties with it has its time.
  const [time = '', rank = ''] = order.split('|').slice(1, 3);
  const when = kind === 'stale-correction' ? `${time}|${rank}` : time;
  context.attend({
    kind,
    patients: [patient.id],
    about: `${type}/${id} ${when}`,
    detail: { type, id, at: locate(segment) },
  });
}
