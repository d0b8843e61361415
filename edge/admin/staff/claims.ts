/** The claims of an account: those of the ID token, and of the userinfo endpoint if the ID token lacks some. */
import * as oauth from 'oauth4webapi';

import { type ClaimRules, lacksOwnClaims } from './account.ts';
import type { Provider } from './provider.ts';

/**
 * @param answer the token endpoint's answer to a code or a refresh token; the latter may lack an ID token (OpenID Connect
 *   Core 1.0 §12.2)
 * @param subject the expected subject; undefined accepts the subject of the ID token
 * @returns undefined if the answer names no subject
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
