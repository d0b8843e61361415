/**
 * Reports to the administrators of the keys that nearly fit why none was selected (edge/docs/behaviour.md, MLLP). The sender
 * gets no reason.
 */
import type { Deps } from '../../deps.ts';
import type { NoteRefusal } from '../../http/refusals.ts';
import type { NoKey } from '../ingest/sender/select-key.ts';

/** Notes the reason of each key, off the response path. */
export function noteNoKey(
  { log }: Pick<Deps, 'log'>,
  note: NoteRefusal | undefined,
  { refused: code, reason: detail, explainTo }: NoKey,
  sourceAddress: string,
  requestId: string,
): void {
  log({ level: 'warn', event: 'mllp.refused', requestId, sourceAddress, fault: code, detail });
  for (const { clientId, reason } of explainTo) {
    note?.({ clientId, isKnown: true, answer: 'AR', code, reason, requestId, sourceAddress });
  }
}
