/** The token endpoint (RFC 6749 §4.4, RFC 7523 §2.2): one grant, one authentication method, short-lived access tokens. */
import { chooseAudience } from '../../shared/oauth/audience.ts';
import { type ResourceType, typesOn } from '../../shared/resource-type.ts';
import { quote } from '../../shared/quote.ts';
import { grantScopes } from '../../shared/oauth/scope.ts';
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import type { ClientRow } from '../store/client.ts';
import { type Grant, issueAccessToken } from './access-token.ts';
import { type Attempt, limitAddress } from './attempt.ts';
import { authenticateClient } from './assertion/authenticate.ts';
import { readPresented } from './assertion/credentials.ts';
import type { ClientKeyring } from './client-keys.ts';
import type { Form } from './form.ts';
import { keyringOf } from './keyring.ts';
import { inNameOf, refuse } from './refused.ts';

/** RFC 6749 §5.1. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** In seconds. */
  readonly expires_in: number;
  /** The granted scopes, possibly fewer than requested. */
  readonly scope: string;
}

function checkGrantType(form: Form): void {
  const grantType = form.get('grant_type');
  if (grantType === 'client_credentials') return;
  if (grantType === undefined) {
    throw refuse({ code: 'grant_type', reason: 'grant_type is required', isMissing: true });
  }
  throw refuse({ code: 'grant_type', reason: `grant_type was ${quote(grantType)}, expected client_credentials` });
}

function chooseGrant(issuer: string, form: Form, client: ClientRow, types: readonly ResourceType[]): Grant {
  const scopes = grantScopes(form.get('scope'), client.allowed_scopes, types);
  if ('reason' in scopes) throw refuse({ code: 'scope', reason: scopes.reason });
  const chosen = chooseAudience(form.get('audience'), client.allowed_audiences, client.protocols);
  if ('reason' in chosen) throw refuse({ code: 'audience', reason: chosen.reason });
  return {
    issuer,
    clientId: client.client_id,
    site: client.site_id,
    audience: chosen.audience,
    scopes: scopes.granted,
    ttlSeconds: client.token_ttl_seconds,
  };
}

/** @throws Refused, or Fault `unavailable` */
export async function tokenEndpoint(deps: Deps, clientKeys: ClientKeyring, attempt: Attempt): Promise<TokenResponse> {
  const { issuer, tokenEndpoint: endpoint } = oauthAddresses(deps.config);
  await limitAddress(deps, attempt);
  const presented = await readPresented(attempt.request);
  const { form, claimedClient } = presented;
  return inNameOf(claimedClient, async () => {
    checkGrantType(form);
    const client = await authenticateClient(deps, clientKeys, attempt, presented, [endpoint]);
    const grant = chooseGrant(issuer, form, client, typesOn(deps.config));
    const token = await issueAccessToken(keyringOf(deps.config), grant, deps.now());
    const { requestId, sourceAddress } = attempt;
    const { clientId, site } = grant;
    attempt.countToken();
    deps.log({ level: 'info', event: 'token.issued', requestId, sourceAddress, clientId, site });
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: grant.ttlSeconds,
      scope: grant.scopes.join(' '),
    };
  });
}
