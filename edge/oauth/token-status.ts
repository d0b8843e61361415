/**
 * Introspection (RFC 7662) and revocation (RFC 7009) of access tokens. A caller authenticates by a client assertion or by an
 * access token, and can inspect and revoke only the tokens of its client.
 */
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { assertCaller } from '../store/api-key.ts';
import { revokeToken, tokenStanding } from '../store/token.ts';
import { type AccessTokenClaims, readSignedToken } from './access-token.ts';
import { answerClient, identityOf, openingOf } from './calling-client.ts';
import type { Attempt } from './attempt.ts';
import type { ClientKeyring } from './client-keys.ts';
import type { Form } from './form.ts';
import { keyringOf } from './keyring.ts';
import { refuse } from './refused.ts';

/** The claims of the form's token; undefined for a token that is not genuine or has expired. */
async function presentedToken({ config, now }: Deps, form: Form): Promise<AccessTokenClaims | undefined> {
  const token = form.get('token');
  if (token === undefined) throw refuse({ code: 'form', reason: 'token is required' });
  const read = await readSignedToken(keyringOf(config), oauthAddresses(config).issuer, token, now());
  return read?.isExpired === false ? read.claims : undefined;
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
  return answerClient(deps, clientKeys, attempt, endpoint, async (client, form) => {
    const claims = await presentedToken(deps, form);
    const { clientId, bearer } = client;
    const isOwn = claims !== undefined && claims.client_id === clientId;
    if (!isOwn) {
      if (bearer !== undefined) await deps.database.run(assertCaller(bearer));
      return { active: false };
    }
    const [, rows] = await deps.database.batch([openingOf(client), tokenStanding(identityOf(claims))]);
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
  return answerClient(deps, clientKeys, attempt, endpoint, async (client, form) => {
    const claims = await presentedToken(deps, form);
    const { clientId, bearer } = client;
    const isOwn = claims !== undefined && claims.client_id === clientId;
    if (isOwn) await deps.database.batch([openingOf(client), revokeToken(identityOf(claims), claims.exp)]);
    else if (bearer !== undefined) await deps.database.run(assertCaller(bearer));
    if (claims === undefined || isOwn) return;
    throw refuse({ code: 'owner', reason: 'the token was issued to another client' });
  });
}
