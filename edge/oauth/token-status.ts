/**
 * Introspection (RFC 7662) and revocation (RFC 7009) of access tokens. A caller authenticates by a client assertion or by an
 * access token, and can inspect and revoke only the tokens of its client.
 */
import type { Deps, Query } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { assertCaller, type CallerIdentity } from '../store/api-key.ts';
import { enterSite } from '../store/in-site.ts';
import { revokeToken, tokenStanding } from '../store/token.ts';
import { type AccessTokenClaims, readAccessToken } from './access-token.ts';
import { authenticateClient } from './assertion/authenticate.ts';
import { hasAssertion, type Presented, readPresented } from './assertion/credentials.ts';
import { type Attempt, limitAddress, overClientLimit } from './attempt.ts';
import { readBearer } from './bearer.ts';
import type { ClientKeyring } from './client-keys.ts';
import { keyringOf } from './keyring.ts';
import { inNameOf, refuse } from './refused.ts';

/** The calling client, and the access token that authenticated it, if any. */
interface Asker {
  readonly clientId: string;
  readonly bearer: CallerIdentity | undefined;
}

const identityOf = (claims: AccessTokenClaims): CallerIdentity => ({
  site: claims.site,
  clientId: claims.client_id,
  tokenId: claims.jti,
  audience: claims.aud,
  // Neither endpoint requires a scope.
  scopes: new Set(),
});

/** The first statements of a batch about a token of the asker's client. */
const openingOf = (bearer: CallerIdentity | undefined, { site }: AccessTokenClaims): Query =>
  bearer === undefined ? enterSite(site) : assertCaller(bearer);

async function authenticateAsker(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  presented: Presented,
  endpoint: string,
): Promise<Asker> {
  if (hasAssertion(presented)) {
    const audiences = [oauthAddresses(deps.config).tokenEndpoint, endpoint];
    const client = await authenticateClient(deps, clientKeys, attempt, presented, audiences);
    return { clientId: client.client_id, bearer: undefined };
  }
  // Without a Bearer token, client authentication has failed (RFC 7662 §2.3, RFC 6749 §5.2).
  if (!/^Bearer /i.test(attempt.request.headers.get('authorization') ?? '')) {
    throw refuse({ code: 'authentication', reason: 'send a client_assertion or a Bearer token' });
  }
  const { claims } = await readBearer(deps, attempt.request);
  return { clientId: claims.client_id, bearer: identityOf(claims) };
}

/** Both endpoints: authenticates the asker, reads the token if it is genuine, and calls `answer`. */
async function answerAsker<Answer>(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  endpoint: string,
  answer: (asker: Asker, claims: AccessTokenClaims | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { issuer } = oauthAddresses(deps.config);
  await limitAddress(deps, attempt);
  const presented = await readPresented(attempt.request);
  const asker = await inNameOf(presented.claimedClient, () =>
    authenticateAsker(deps, clientKeys, attempt, presented, endpoint),
  );
  return inNameOf(asker.clientId, async () => {
    // The check of a client assertion has already counted its client.
    const over = asker.bearer === undefined ? undefined : await overClientLimit(deps, asker.clientId);
    if (over !== undefined) throw refuse(over);
    const token = presented.form.get('token');
    if (token === undefined) throw refuse({ code: 'form', reason: 'token is required' });
    return answer(asker, await readAccessToken(keyringOf(deps.config), issuer, token, deps.now()));
  });
}

export type Introspection = { readonly active: false } | (AccessTokenClaims & { active: true; token_type: 'Bearer' });

/**
 * RFC 7662 §2.2. The answer is `{"active":false}` unless the token is active and belongs to the caller's client. `scope`
 * contains the scopes that the key still has; a token without any is not active.
 *
 * @throws Refused or Fault, as client authentication and the bearer check do
 */
export async function introspect(deps: Deps, clientKeys: ClientKeyring, attempt: Attempt): Promise<Introspection> {
  const endpoint = oauthAddresses(deps.config).introspectionEndpoint;
  return answerAsker(deps, clientKeys, attempt, endpoint, async ({ clientId, bearer }, claims) => {
    const isOwn = claims !== undefined && claims.client_id === clientId;
    if (!isOwn) {
      if (bearer !== undefined) await deps.database.run(assertCaller(bearer));
      return { active: false };
    }
    const [, rows] = await deps.database.batch([openingOf(bearer, claims), tokenStanding(identityOf(claims))]);
    const { live = false, scopes } = rows[0] ?? {};
    const scope = claims.scope
      .split(' ')
      .filter((one) => scopes?.includes(one))
      .join(' ');
    return live && scope !== '' ? { active: true, token_type: 'Bearer', ...claims, scope } : { active: false };
  });
}

/**
 * RFC 7009 §2.1. An unknown, expired or revoked token is not an error.
 *
 * @throws Refused 400 `invalid_grant` for a token of another client
 */
export async function revoke(deps: Deps, clientKeys: ClientKeyring, attempt: Attempt): Promise<void> {
  const endpoint = oauthAddresses(deps.config).revocationEndpoint;
  return answerAsker(deps, clientKeys, attempt, endpoint, async ({ clientId, bearer }, claims) => {
    const isOwn = claims !== undefined && claims.client_id === clientId;
    if (isOwn) await deps.database.batch([openingOf(bearer, claims), revokeToken(identityOf(claims), claims.exp)]);
    else if (bearer !== undefined) await deps.database.run(assertCaller(bearer));
    if (claims === undefined || isOwn) return;
    throw refuse({ code: 'owner', reason: 'the token was issued to another client' });
  });
}
