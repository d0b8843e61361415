/** What the provider says of somebody: the claims of the ID token, with those of its userinfo endpoint where ours lack. */
import * as oauth from 'oauth4webapi';

import { type ClaimRules, lacksOwnClaims } from './permissions.ts';
import type { Provider } from './provider.ts';

/**
 * @param answer of the token endpoint, to a code or to a refresh token; the latter may come without an ID token (OpenID
 *   Connect Core 1.0 §12.2)
 * @param subject whom it must be about; undefined for whoever the ID token names
 * @returns undefined where nothing says who it is
 */
export async function claimsOf(
  provider: Provider,
  rules: ClaimRules,
  answer: oauth.TokenEndpointResponse,
  subject?: string,
): Promise<Record<string, unknown> | undefined> {
  const { server, client, http } = provider;
  const idToken = oauth.getValidatedIdTokenClaims(answer);
  const expected = subject ?? idToken?.sub;
  if (expected === undefined) return undefined;
  if (idToken !== undefined && !lacksOwnClaims(idToken, rules)) return { ...idToken };
  if (server.userinfo_endpoint === undefined) return idToken && { ...idToken };
  const response = await oauth.userInfoRequest(server, client, answer.access_token, http);
  return { ...(await oauth.processUserInfoResponse(server, client, expected, response)), ...idToken };
}
