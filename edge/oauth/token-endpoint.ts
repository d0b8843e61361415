/** The token endpoint (RFC 6749 §4.4, RFC 7523 §2.2): one grant, one way to authenticate, a short-lived access token. */
import { chooseAudience } from '../../shared/oauth/audience.ts';
import { quote } from '../../shared/quote.ts';
import { grantScopes } from '../../shared/oauth/scope.ts';
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import type { ClientRow } from '../store/client.ts';
import { type Grant, issueAccessToken } from './access-token.ts';
import { type Attempt, limitAddress } from './attempt.ts';
import { authenticateClient, claimedBy } from './authenticate-client.ts';
import type { ClientKeyring } from './client-keys.ts';
import { type Form, readForm } from './form.ts';
import { keyringOf } from './keyring.ts';
import { refuseRequest } from './refused.ts';

/** RFC 6749 §5.1. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  /** What was granted, possibly less than what was asked for. */
  readonly scope: string;
}

function checkGrantType(form: Form): void {
  const grantType = form.get('grant_type');
  if (grantType === 'client_credentials') return;
  if (grantType === undefined) throw refuseRequest('invalid_request', 'grant_type', 'grant_type is required');
  const reason = `grant_type was ${quote(grantType)}, expected client_credentials`;
  throw refuseRequest('unsupported_grant_type', 'grant_type', reason);
}

function chooseGrant(issuer: string, form: Form, client: ClientRow): Grant {
  const scopes = grantScopes(form.get('scope'), client.allowed_scopes);
  if ('reason' in scopes) throw refuseRequest('invalid_scope', 'scope', scopes.reason);
  const chosen = chooseAudience(form.get('audience'), client.allowed_audiences, client.protocols);
  if ('reason' in chosen) throw refuseRequest('invalid_target', 'audience', chosen.reason);
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
  const form = await readForm(attempt.request);
  attempt.claimedClient = () => claimedBy(form);
  checkGrantType(form);
  const client = await authenticateClient(deps, clientKeys, attempt, form, [endpoint]);
  const grant = chooseGrant(issuer, form, client);
  const token = await issueAccessToken(keyringOf(deps.config), grant, deps.now());
  const { requestId, sourceAddress } = attempt;
  const { clientId, site } = grant;
  deps.log({ level: 'info', event: 'token.issued', requestId, sourceAddress, clientId, site });
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: grant.ttlSeconds,
    scope: grant.scopes.join(' '),
  };
}
