/** Client authentication for a request: the steps in their order, up to the first that refuses (`steps.ts`). */
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
import type { Known, Means } from './step.ts';
import { STEPS } from './steps.ts';

type Made = { readonly known: Known; readonly refused: Reason | undefined };

async function makeSteps(begun: Known, means: Means): Promise<Made> {
  let known = begun;
  for (const step of STEPS) {
    const outcome = await step.run(known, means);
    if ('refused' in outcome) return { known, refused: outcome.refused };
    // Whatever it needs was learned before, or a step before has refused.
    if ('skipped' in outcome) throw new Error(`the step ${step.code} could not be made: ${outcome.skipped}`);
    known = { ...known, ...outcome.learned };
  }
  return { known, refused: undefined };
}

/**
 * Does the work of a signature check for an assertion that was refused before there was one, so that the time of the answer
 * does not tell whether there is such a client or such a key. Spared is what has a header that no client may send.
 */
async function takeAsLong({ jws: { text, header }, signing }: Known): Promise<void> {
  const wasChecked = signing !== undefined && (signing.isSigned || signing.failed === 'signature');
  const { alg, jku } = header;
  const context = { jwksUri: typeof jku === 'string' ? jku : null };
  if (wasChecked || !isAssertionAlgorithm(alg) || firstBroken(HEADER_CHECKS, header, context) !== undefined) return;
  await checkAgainstDecoy(text, alg);
}

/**
 * Authenticates the client of a request by the assertion in its form.
 *
 * @param audiences what `aud` may be: the published URL of the endpoint, first the one to name in a refusal
 * @throws Refused; Fault `unavailable` while the database or the store of claims is away
 */
export async function authenticateClient(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  presented: Presented,
  audiences: readonly string[],
): Promise<ClientRow> {
  const begun: Known = {
    jws: requireAssertion(presented),
    clientId: presented.claimedClient,
    formClientId: presented.form.get('client_id'),
    audiences,
  };
  const { known, refused } = await makeSteps(begun, {
    deps,
    clientKeys,
    async findClient(clientId) {
      const [client] = await deps.database.run(findClient(clientId));
      if (client !== undefined) attempt.countFor(client.site_id, clientId);
      return client;
    },
  });
  if (refused !== undefined) {
    await takeAsLong(known);
    throw refuse(refused);
  }
  if (known.client === undefined) throw new Error('every step has passed, and the client is not known');
  if (known.signing?.isSigned === true) attempt.signedWith(known.signing.kid);
  return known.client;
}
