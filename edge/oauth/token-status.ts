/**
 * Introspection (RFC 7662) and revocation (RFC 7009) of access tokens. The caller authenticates by a client assertion or
 * by an access token, and learns of, or ends, tokens of its own client only.
 */
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { assertCaller, type CallerIdentity } from '../store/api-key.ts';
import { isTokenLive, revokeToken } from '../store/token.ts';
import { type AccessTokenClaims, readAccessToken } from './access-token.ts';
import { type Attempt, limitAddress, limitClient } from './attempt.ts';
import { authenticateClient, claimedBy } from './authenticate-client.ts';
import { bearerClaims } from './bearer.ts';
import type { ClientKeyring } from './client-keys.ts';
import { hasAssertion } from './credentials.ts';
import { type Form, readForm } from './form.ts';
import { keyringOf } from './keyring.ts';
import { refuseRequest } from './refused.ts';

/** Who asks: a client, and the access token it authenticated by, if it was one. */
interface Asker {
  readonly clientId: string;
  readonly bearer: CallerIdentity | undefined;
}

const identityOf = (claims: AccessTokenClaims): CallerIdentity => ({
  site: claims.site,
  clientId: claims.client_id,
  tokenId: claims.jti,
});

async function authenticateAsker(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  form: Form,
  endpoint: string,
): Promise<Asker> {
  if (hasAssertion(form)) {
    const audiences = [oauthAddresses(deps.config).tokenEndpoint, endpoint];
    const client = await authenticateClient(deps, clientKeys, attempt, form, audiences);
    return { clientId: client.client_id, bearer: undefined };
  }
  const claims = await bearerClaims(deps, attempt.request);
  attempt.claimedClient = () => claims.client_id;
  await limitClient(deps, claims.client_id);
  return { clientId: claims.client_id, bearer: identityOf(claims) };
}

/** The steps both endpoints share: who asks, and the token they ask about, where it is one of ours. */
async function readRequest(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  endpoint: string,
): Promise<{ asker: Asker; claims: AccessTokenClaims | undefined }> {
  const { issuer } = oauthAddresses(deps.config);
  await limitAddress(deps, attempt);
  const form = await readForm(attempt.request);
  attempt.claimedClient = () => claimedBy(form);
  const asker = await authenticateAsker(deps, clientKeys, attempt, form, endpoint);
  const token = form.get('token');
  if (token === undefined) throw refuseRequest('invalid_request', 'form', 'token is required');
  return { asker, claims: await readAccessToken(keyringOf(deps.config), issuer, token, deps.now()) };
}

export type Introspection = { readonly active: false } | (AccessTokenClaims & { active: true; token_type: 'Bearer' });

/**
 * RFC 7662 §2.2. Whatever is not a live token of the caller's own client is `{"active":false}` and nothing else.
 *
 * @throws Refused or Fault as client authentication and the bearer check do
 */
export async function introspect(deps: Deps, clientKeys: ClientKeyring, attempt: Attempt): Promise<Introspection> {
  const endpoint = oauthAddresses(deps.config).introspectionEndpoint;
  const { asker, claims } = await readRequest(deps, clientKeys, attempt, endpoint);
  const isOwn = claims !== undefined && claims.client_id === asker.clientId;
  if (!isOwn) {
    if (asker.bearer !== undefined) await deps.database.run(assertCaller(asker.bearer));
    return { active: false };
  }
  const isLive = isTokenLive(identityOf(claims));
  const rows =
    asker.bearer === undefined
      ? await deps.database.run(isLive)
      : (await deps.database.batch([assertCaller(asker.bearer), isLive]))[1];
  return rows[0]?.live === true ? { active: true, token_type: 'Bearer', ...claims } : { active: false };
}

/**
 * RFC 7009 §2.1. A token that is unknown, expired or already revoked is no error.
 *
 * @throws Refused 400 `invalid_grant` for a token of another client
 */
export async function revoke(deps: Deps, clientKeys: ClientKeyring, attempt: Attempt): Promise<void> {
  const endpoint = oauthAddresses(deps.config).revocationEndpoint;
  const { asker, claims } = await readRequest(deps, clientKeys, attempt, endpoint);
  const isOwn = claims !== undefined && claims.client_id === asker.clientId;
  const statements = [
    ...(asker.bearer === undefined ? [] : [assertCaller(asker.bearer)]),
    ...(isOwn ? [revokeToken(identityOf(claims), claims.exp)] : []),
  ];
  if (statements.length > 0) await deps.database.batch(statements);
  if (claims === undefined || isOwn) return;
  throw refuseRequest('invalid_grant', 'client', 'the token was issued to another client');
}
