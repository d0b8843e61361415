/**
 * Client authentication by `private_key_jwt` (RFC 7523 §3), as a list of steps in the order of the standard: the
 * assertion, its client, the key, the signature, the claims, single use, and last whether the key is enabled. An
 * assertion whose signature is bad burns no `jti`; one that is refused for what follows has.
 */
import { z } from 'zod';

import type { JsonObject } from '../../shared/json.ts';
import { isAssertionAlgorithm } from '../../shared/oauth/algorithms.ts';
import { checkClaims, CLOCK_TOLERANCE_SECONDS } from '../../shared/oauth/assertion-claims.ts';
import { checkHeader } from '../../shared/oauth/assertion-header.ts';
import { claimedClient } from '../../shared/oauth/client-id.ts';
import { type CompactJws, readCompactJws } from '../../shared/oauth/compact-jws.ts';
import type { Reason } from '../../shared/oauth/reason.ts';
import { quote } from '../../shared/quote.ts';
import type { Deps } from '../deps.ts';
import { sha256Of } from '../http/crypto.ts';
import { type ClientRow, findClient } from '../store/client.ts';
import { type Attempt, limitClient } from './attempt.ts';
import { checkSignature } from './assertion-signature.ts';
import type { ClientKeyring } from './client-keys.ts';
import { readAssertion } from './credentials.ts';
import type { Form } from './form.ts';
import { refuseAssertion, refuseClient } from './refused.ts';
import { checkAgainstDecoy } from './signature.ts';

/** Beyond `exp` and the clock's tolerance, so that no replay finds the claim just gone. */
const CLAIM_MARGIN_SECONDS = 60;

const UNKNOWN_CLIENT: Reason = { code: 'client', reason: 'there is no such client' };

/** The client an assertion claims to come from, for the record of a refusal; nothing is checked. */
export function claimedBy(form: Form): string | undefined {
  const read = readCompactJws(form.get('client_assertion') ?? '');
  return 'jws' in read ? claimedClient(read.jws.claims) : undefined;
}

function parseAssertion(assertion: string, form: Form): { jws: CompactJws; clientId: string } {
  const read = readCompactJws(assertion);
  if ('reason' in read) throw refuseClient({ code: 'format', reason: read.reason });
  const { claims } = read.jws;
  const clientId = claimedClient(claims);
  if (clientId === undefined) {
    const reason = `neither sub (${quote(claims['sub'])}) nor iss (${quote(claims['iss'])}) is a Client ID`;
    throw refuseClient({ code: 'client', reason });
  }
  const formClient = form.get('client_id');
  if (formClient !== undefined && formClient !== claims['sub']) {
    throw refuseClient({
      code: 'client',
      reason: `client_id was ${quote(formClient)}, sub was ${quote(claims['sub'])}`,
    });
  }
  return { jws: read.jws, clientId };
}

async function verifySignature(
  clientKeys: ClientKeyring,
  client: ClientRow | undefined,
  jws: CompactJws,
): Promise<void> {
  const { text, header } = jws;
  const refusal = checkHeader(header, { jwksUri: client?.jwks_uri ?? null });
  const algorithm = header['alg'];
  if (refusal !== undefined || !isAssertionAlgorithm(algorithm)) {
    throw refuseClient(refusal ?? { code: 'alg', reason: 'alg is not supported' });
  }
  if (client === undefined) {
    await checkAgainstDecoy(text, algorithm);
    throw refuseClient(UNKNOWN_CLIENT);
  }
  const reason = await checkSignature(clientKeys, client, jws, algorithm);
  if (reason === undefined) return;
  if (reason.code !== 'signature') await checkAgainstDecoy(text, algorithm);
  throw refuseClient(reason);
}

/** What single use needs of claims that were checked. */
const singleUse = z.object({ jti: z.string(), exp: z.number() });

/** RFC 7523 §3 rule 7: the first use of a `jti` by its client is the only one. */
async function claimOnce(deps: Deps, clientId: string, claims: JsonObject): Promise<void> {
  const { jti, exp } = singleUse.parse(claims);
  const expires = exp + CLOCK_TOLERANCE_SECONDS + CLAIM_MARGIN_SECONDS;
  if (await deps.jtiStore.claim(clientId, await sha256Of(jti), expires, crypto.randomUUID())) return;
  throw refuseAssertion({ code: 'replay', reason: 'assertion already used: each request needs a new jti' });
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
  form: Form,
  audiences: readonly string[],
): Promise<ClientRow> {
  const { jws, clientId } = parseAssertion(readAssertion(attempt.request, form), form);
  const [client] = await deps.database.run(findClient(clientId));
  if (client !== undefined) attempt.countFor(client.site_id);
  await verifySignature(clientKeys, client, jws);
  if (client === undefined) throw refuseClient(UNKNOWN_CLIENT);
  await limitClient(deps, clientId);
  const refusal = checkClaims(jws.claims, { clientId, audiences, now: Math.floor(deps.now() / 1000) });
  if (refusal !== undefined) throw refuseAssertion(refusal);
  await claimOnce(deps, clientId, jws.claims);
  if (client.status !== 'active') throw refuseClient({ code: 'status', reason: 'the API key is disabled' });
  return client;
}
