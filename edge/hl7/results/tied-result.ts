/** Lists a result whose two statements have one time. */
import type { MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { hasNumber, observedBy, type ResultKey } from './result-key.ts';

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
