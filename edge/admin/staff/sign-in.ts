/**
 * Signing in and out (OpenID Connect Core 1.0 §3.1, authorization code with PKCE, RFC 7636; RP-Initiated Logout 1.0).
 * Each sign-in under way is bound to its browser by a sealed cookie with state, nonce and code verifier.
 */
import type { Context } from 'hono';
import * as oauth from 'oauth4webapi';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import type { Surface } from '../../http/surface.ts';
import { inSite } from '../../store/in-site.ts';
import { readSite } from '../../store/site.ts';
import type { Access } from './access.ts';
import { type ClaimNames, lacksOwnClaims, toActor } from './permissions.ts';
import { type FindProvider, oidcSettings, type Provider } from './provider.ts';
import type { Session, Sessions } from './session.ts';

const SCOPE = 'openid profile';

/** Only paths of the console itself: never an address that someone else put into a link. */
const safeReturn = (path: string | undefined): string =>
  path !== undefined && /^\/admin(?:[/?][A-Za-z0-9/?&=._~%^+:-]*)?$/.test(path) && !path.includes('//')
    ? path
    : '/admin';

const refused = (cause?: unknown) =>
  new Fault('forbidden', 'the sign-in did not succeed: begin again', { code: 'sign_in', cause });

/** The claims of the ID token, with those of the userinfo endpoint where the former lack ours. */
async function claimsOf(
  provider: Provider,
  names: ClaimNames,
  answer: oauth.TokenEndpointResponse,
): Promise<Record<string, unknown>> {
  const { server, client, http } = provider;
  const idToken = oauth.getValidatedIdTokenClaims(answer);
  if (idToken === undefined) throw refused();
  if (!lacksOwnClaims(idToken, names) || server.userinfo_endpoint === undefined) return { ...idToken };
  const response = await oauth.userInfoRequest(server, client, answer.access_token, http);
  return { ...(await oauth.processUserInfoResponse(server, client, idToken.sub, response)), ...idToken };
}

export function addSignIn(
  app: Surface,
  deps: Deps,
  findProvider: FindProvider,
  sessions: Sessions,
  access: Access,
): void {
  const redirectUri = () => `${oidcSettings(deps.config).baseUrl}/admin/callback`;
  const own = (path: string) => `${oidcSettings(deps.config).baseUrl}${path}`;

  app.get('/admin/sign-in', async (c) => {
    const { server, clientId } = await findProvider();
    if (server.authorization_endpoint === undefined)
      throw new Fault('unavailable', 'the OpenID provider has no sign-in');
    const started = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      returnTo: safeReturn(c.req.query('returnTo')),
    };
    await sessions.begin(c, started);
    const url = new URL(server.authorization_endpoint);
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri(),
      scope: SCOPE,
      state: started.state,
      nonce: started.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(started.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return c.redirect(url.href);
  });

  app.get('/admin/callback', async (c) => {
    const started = await sessions.finish(c);
    if (started === undefined) throw refused();
    const session = await exchange(c, started.state, started.nonce, started.verifier);
    await sessions.open(c, session);
    return c.redirect(own(started.returnTo));
  });

  async function exchange(c: Context, state: string, nonce: string, verifier: string): Promise<Session> {
    const provider = await findProvider();
    const { server, client, authentication, http } = provider;
    try {
      const answered = oauth.validateAuthResponse(server, client, new URL(c.req.url), state);
      const tokens = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        answered,
        redirectUri(),
        verifier,
        http,
      );
      const answer = await oauth.processAuthorizationCodeResponse(server, client, tokens, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      const { claimNames } = oidcSettings(deps.config);
      const actor = toActor(await claimsOf(provider, claimNames, answer), claimNames);
      const [site] = await inSite(deps.database, actor.site).run(readSite(actor.site));
      if (site === undefined) throw new Fault('forbidden', 'the site of your account is not known to this gateway');
      return { actor, siteName: site.name, idToken: answer.id_token };
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw refused(error);
    }
  }

  app.post('/admin/sign-out', async (c) => {
    const { idToken } = await access.page(c);
    sessions.close(c);
    const { server, clientId } = await findProvider();
    const signedOut = own('/admin/signed-out');
    const end = server.end_session_endpoint;
    // The page's policy lets a form lead to the provider's own origin only.
    if (end === undefined || new URL(end).origin !== new URL(server.issuer).origin) return c.redirect(signedOut, 303);
    const url = new URL(end);
    url.searchParams.set('client_id', clientId);
    url.searchParams.set('post_logout_redirect_uri', signedOut);
    if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
    return c.redirect(url.href, 303);
  });
}
