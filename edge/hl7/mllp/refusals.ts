/** What the administrators of the keys concerned learn when no key is meant (edge/README.md, MLLP); the sender does not. */
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { recordRefusal } from '../../store/refusal.ts';
import type { NoKey } from '../sender/select-key.ts';

/** Keeps the reasons, off the response path. */
export function recordRefusals(
  deps: Pick<Deps, 'log' | 'now' | 'background' | 'database'>,
  refusal: NoKey,
  sourceAddress: string,
  requestId: string,
): void {
  deps.log({
    level: 'warn',
    event: 'mllp.refused',
    requestId,
    sourceAddress,
    fault: refusal.refused,
    detail: refusal.reason,
  });
  if (refusal.explainTo.length === 0) return;
  const queries = refusal.explainTo.map(({ clientId, reason }) =>
    recordRefusal({
      id: uuidv7(deps.now()),
      clientId,
      surface: 'mllp',
      requestId,
      sourceAddress,
      code: refusal.refused,
      reason,
    }),
  );
  deps.background(deps.database.batch(queries));
}
