/** Reports of stale statements: to the sender, and for a correction to the administrator. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { note, type MapContext } from './context.ts';
import type { Draft } from './drafts.ts';
import type { Precedence } from '../precedence/precedence.ts';

export function noteStale(segment: Segment, context: MapContext): void {
  const message = `Newer data than this ${segment.id} is stored. It filled only empty fields.`;
  note(context, 'W', '205', locate(segment), message, 'stale');
}

/** A sender corrected or withdrew a result, and a newer value is stored: a person must decide which of them is right. */
export function attendStaleCorrection(
  { segment }: { readonly segment: Segment },
  { type, id }: Draft,
  patient: Draft,
  precedence: Precedence,
  context: MapContext,
): void {
  // The same correction with another control id is listed once.
  const when = precedence.split('|').slice(1, 3).join('|');
  context.attend({
    kind: 'stale-correction',
    patients: [patient.id],
    about: `${type}/${id} ${when}`,
    detail: { type, id, at: locate(segment) },
  });
}
