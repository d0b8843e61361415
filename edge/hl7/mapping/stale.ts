/** Reports of stale statements: to the sender, and for a correction to the administrator. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { note, type MapContext } from './context.ts';
import type { Draft } from './drafts.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { hasNumber, observedBy, type ResultKey } from '../results/result-key.ts';

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

/** An entry of a database index is limited. */
const MAX_SUBJECT_LENGTH = 500;

/**
 * Two statements of a result have one time: a person must decide which of them was made last. A code of an order is listed once,
 * without an order number once a day: a monitor without seconds states several values in each minute.
 */
export function attendTie({ type, id }: Draft, patientId: string, key: ResultKey, attend: MapContext['attend']): void {
  const { codes, text, sub, parent } = observedBy(key);
  const numbers = [key.filler?.value, key.placer?.value];
  const day = hasNumber(key) ? '' : key.at.slice(0, 10);
  const about = JSON.stringify([type, ...codes.values(), text, sub, parent, ...numbers, day]).slice(
    0,
    MAX_SUBJECT_LENGTH,
  );
  attend({ kind: 'tied-result', patients: [patientId], about, detail: { type, id } });
}
