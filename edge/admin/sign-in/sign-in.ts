/**
 * Signing in and out (OpenID Connect Core 1.0 §3.1, authorization code with PKCE, RFC 7636; RP-Initiated Logout 1.0). A
 * sealed cookie with state, nonce and code verifier binds a sign-in to its browser.
 */
import type { Context } from 'hono';
import * as oauth from 'oauth4webapi';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { audited } from '../../store/audit.ts';
import { endSession, keepGrants, startSession } from '../../store/console-session.ts';
import { inSite } from '../../store/in-site.ts';
import type { Access } from '../staff/access.ts';
import { auditActorOf } from '../staff/audit-actor.ts';
import { claimsOf } from '../staff/claims.ts';
import { type Actor, actorsOf } from '../staff/actor.ts';
import { readAccount } from '../staff/account.ts';
import { type FindProvider, oidcSettings } from '../staff/provider.ts';
import { identityOf, SESSION_SECONDS, type Session, type Sessions } from '../staff/session.ts';
import type { TokenSeal } from '../staff/token-seal.ts';
import { CHOOSE_SITE_PATH } from '../web/layout.tsx';

/** Accepts only paths of the console: a link to the sign-in may contain any address. */
const safeReturn = (path: string | undefined): string =>
  path !== undefined && /^\/admin(?:[/?][A-Za-z0-9/?&=._~%^+:-]*)?$/.test(path) && !path.includes('//')
    ? path
    : '/admin';

/** The list of sessions shows the browser's name. */
const MAX_USER_AGENT_CHARACTERS = 300;

type Claims = Readonly<Record<string, unknown>>;

const failed = (cause?: unknown) =>
  new Fault('forbidden', 'the sign-in failed: sign in again', { code: 'sign_in', cause });

export function addSignIn(
  app: Surface,
  deps: Deps,
  findProvider: FindProvider,
  sessions: Sessions,
  tokens: TokenSeal,
  access: Access,
): void {
  const redirectUri = () => `${oidcSettings(deps.config).baseUrl}/admin/callback`;
  const own = (path: string) => `${oidcSettings(deps.config).baseUrl}${path}`;

  app.get('/admin/sign-in', async (c) => {
    const { server, clientId } = await findProvider();
    if (server.authorization_endpoint === undefined)
      throw new Fault(
        'unavailable',
        'the OpenID provider publishes no authorization_endpoint: check its discovery document',
      );
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
      scope: oidcSettings(deps.config).scope,
      state: started.state,
      nonce: started.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(started.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    // With an empty fragment; else the browser appends the fragment of the first address (Fetch standard, §4.4).
    return c.redirect(`${url.href}#`);
  });

  app.get('/admin/callback', async (c) => {
    const started = await sessions.finish(c);
    if (started === undefined) throw failed();
    const session = await exchange(c, started.state, started.nonce, started.verifier);
    const isFirst = session.hasOthers && sessions.lastSite(c) === undefined;
    await sessions.keep(c, session);
    return c.redirect(own(isFirst ? CHOOSE_SITE_PATH : started.returnTo));
  });

  async function exchange(c: Context<GatewayEnv>, state: string, nonce: string, verifier: string): Promise<Session> {
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
      return await begin(c, answer, await claimsOf(provider, oidcSettings(deps.config).claimRules, answer));
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw failed(error);
    }
  }

  /** Starts a session. @throws Fault `forbidden` if no site of the account is a site of this gateway */
  async function begin(
    c: Context<GatewayEnv>,
    answer: oauth.TokenEndpointResponse,
    claims: Claims | undefined,
  ): Promise<Session> {
    if (claims === undefined) throw failed();
    const account = readAccount(claims, oidcSettings(deps.config).claimRules);
    const id = crypto.randomUUID();
    const { refresh_token: refreshToken, id_token: idToken } = answer;
    const sealed = (token: string | undefined) => (token === undefined ? null : tokens.seal(id, token));
    const startedAt = Math.floor(deps.now() / 1000);
    const begun = {
      session: id,
      subject: account.subject,
      name: account.name,
      providerSession: typeof claims['sid'] === 'string' ? claims['sid'] : null,
      sourceAddress: deps.sourceAddress(c.req.raw),
      userAgent: (c.req.header('user-agent') ?? '').slice(0, MAX_USER_AGENT_CHARACTERS),
      refreshToken: await sealed(refreshToken),
      idToken: await sealed(idToken),
    };
    const startAt = async (actor: Actor): Promise<Session | undefined> => {
      const { site, permissions } = actor;
      const database = audited(deps.database, site, auditActorOf(deps, c, actor));
      const [[started]] = await database.batch([
        startSession({ ...begun, site, permissions: [...permissions] }),
        keepGrants({ site, session: id }, account.grants),
      ] as const);
      if (started === undefined) return undefined;
      const times = { endsAt: startedAt + SESSION_SECONDS, askedAt: startedAt };
      const mayAsk = refreshToken !== undefined;
      const { site_name: siteName, time_zone: timeZone } = started;
      return { id, actor, siteName, timeZone, hasOthers: account.grants.size > 1, ...times, mayAsk };
    };
    const last = sessions.lastSite(c);
    // The provider may also list sites of other deployments.
    for (const actor of actorsOf(account).toSorted((a, b) => Number(b.site === last) - Number(a.site === last))) {
      const session = await startAt(actor);
      if (session !== undefined) return session;
    }
    throw new Fault(
      'forbidden',
      'this gateway has no site of your account: ask the administrator of the OpenID provider',
    );
  }

  /** Ends the session. @returns its ID token, with which the provider ends its own session */
  async function leave(c: Context<GatewayEnv>): Promise<string | undefined> {
    const session = await access.sessionToEnd(c);
    sessions.drop(c);
    if (session === undefined) return undefined;
    const { actor } = session;
    const database = audited(deps.database, actor.site, auditActorOf(deps, c, actor));
    const [ended] = await inSite(database, actor.site).run(endSession(identityOf(session)));
    if (ended === undefined || ended.id_token === null) return undefined;
    return tokens.open(session.id, ended.id_token);
  }

  app.post('/admin/sign-out', async (c) => {
    const idToken = await leave(c);
    const { server, clientId } = await findProvider();
    const signedOut = own('/admin/signed-out');
    const end = server.end_session_endpoint;
    // The Content-Security-Policy lets a form lead only to the provider's origin.
    if (end === undefined || new URL(end).origin !== new URL(server.issuer).origin) return c.redirect(signedOut, 303);
    const url = new URL(end);
    url.searchParams.set('client_id', clientId);
    url.searchParams.set('post_logout_redirect_uri', signedOut);
    if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
    return c.redirect(url.href, 303);
  });
}
