/** What the administrators of the keys concerned learn when no key is meant (edge/README.md, MLLP); the sender does not. */
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { recordRefusal } from '../../store/refusal.ts';
import type { NoKey } from '../sender/select-key.ts';

/** Keeps the reasons, off the response path. */
export function recordRefusals(
  deps: Pick<Deps, 'log' | 'now' | 'background' | 'database' | 'rateLimiter'>,
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
  if (refusal.explainTo.length > 0) deps.background(keep(deps, refusal, sourceAddress, requestId));
}

async function keep(
  deps: Pick<Deps, 'now' | 'database' | 'rateLimiter'>,
  { refused, explainTo }: NoKey,
  sourceAddress: string,
  requestId: string,
): Promise<void> {
  // A limit of its own for each key, as of its token requests: a sender that repeats costs a bounded number of writes.
  const isKept = await Promise.all(
    explainTo.map(({ clientId }) => deps.rateLimiter.allow('token-client', `mllp ${clientId}`)),
  );
  const queries = explainTo
    .filter((_, at) => isKept[at])
    .map(({ clientId, reason }) => {
      const id = uuidv7(deps.now());
      return recordRefusal({ id, clientId, surface: 'mllp', requestId, sourceAddress, code: refused, reason });
    });
  if (queries.length > 0) await deps.database.batch(queries);
}
