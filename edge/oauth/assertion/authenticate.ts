/** Authenticates the client of a request: runs the steps in order, up to the first rejection (`steps.ts`). */
import { isAssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import type { Deps } from '../../deps.ts';
import type { Reason } from '../../refusals.ts';
import { type ClientRow, findClient } from '../../store/client.ts';
import type { Attempt } from '../attempt.ts';
import type { ClientKeyring } from '../client-keys.ts';
import { refuse } from '../refused.ts';
import { firstBroken } from './check.ts';
import { type Presented, requireAssertion } from './credentials.ts';
import { HEADER_CHECKS } from './header.ts';
import { checkAgainstDecoy } from './signature.ts';
import type { Progress, StepDeps } from './step.ts';
import { STEPS } from './steps.ts';

type Made = { readonly progress: Progress; readonly refused: Reason | undefined };

async function makeSteps(begun: Progress, stepDeps: StepDeps): Promise<Made> {
  let progress = begun;
  for (const step of STEPS) {
    const outcome = await step.run(progress, stepDeps);
    if ('refused' in outcome) return { progress, refused: outcome.refused };
    // Every step gets its input from the steps before it, or one of them has rejected.
    if ('skipped' in outcome) throw new Error(`the step ${step.code} could not be made: ${outcome.skipped}`);
    progress = { ...progress, ...outcome.findings };
  }
  return { progress, refused: undefined };
}

/**
 * Does the work of a signature check for an assertion that was rejected earlier. The time of the answer then does not
 * reveal if the client or the key exists. An assertion whose header is never valid needs no such work.
 */
async function spendVerifyingTime({ jws: { text, header }, signing }: Progress): Promise<void> {
  const wasChecked = signing !== undefined && (signing.isSigned || signing.failed === 'signature');
  const { alg, jku } = header;
  const context = { jwksUri: typeof jku === 'string' ? jku : null };
  if (wasChecked || !isAssertionAlgorithm(alg) || firstBroken(HEADER_CHECKS, header, context) !== undefined) return;
  await checkAgainstDecoy(text, alg);
}

/**
 * Authenticates a client by the assertion in its form.
 *
 * @param audiences the accepted values of `aud`: URLs of the endpoint; a rejection names the first
 * @throws Refused; Fault `unavailable` if the database or the jti store is unavailable
 */
export async function authenticateClient(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  presented: Presented,
  audiences: readonly string[],
): Promise<ClientRow> {
  const begun: Progress = {
    jws: requireAssertion(presented),
    clientId: presented.claimedClient,
    formClientId: presented.form.get('client_id'),
    audiences,
  };
  const { progress, refused } = await makeSteps(begun, {
    deps,
    clientKeys,
    async findClient(clientId) {
      const [client] = await deps.database.run(findClient(clientId));
      if (client !== undefined) attempt.countFor(client.site_id, clientId);
      return client;
    },
  });
  if (refused !== undefined) {
    await spendVerifyingTime(progress);
    throw refuse(refused);
  }
  if (progress.client === undefined) throw new Error('every step succeeded, but the client is not known');
  if (progress.signing?.isSigned === true) attempt.signedWith(progress.signing.kid);
  return progress.client;
}
