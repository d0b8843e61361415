/**
 * The staff's OpenID provider of the local stack and of tests: the real `oidc-provider`, in memory. It has two accounts for
 * the console, and clients that get Bearer tokens for scripts (client credentials with a resource indicator, RFC 8707).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';

import { freePort } from './free-port.ts';
import { KEEP_ALIVE_MS } from './keep-alive.ts';
import { type Account, localAccounts } from './oidc-accounts.ts';
import { oidcPage } from './oidc-page.ts';
import { signIn } from './oidc-sign-in.ts';

export interface OidcOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** ADMIN_PUBLIC_BASE_URL of the gateway that signs in here. */
  readonly adminBaseUrl: string;
  /** The site of both accounts. */
  readonly site: string;
  /** The path of the issuer, e.g. `/realms/staff` or `/application/o/gateway/`; default the root. */
  readonly path?: string;
  /** The names of the claims for site and permissions. */
  readonly claimNames?: { readonly site: string; readonly permissions: string };
  /** Claims of an account, by username, that replace the usual ones. */
  readonly claims?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** As a provider that gives none. */
  readonly withoutRefreshTokens?: boolean;
}

export interface OidcProvider {
  readonly issuer: string;
  /** The gateway's configuration for this provider. */
  readonly env: Readonly<Record<'ADMIN_OIDC_ISSUER' | 'ADMIN_OIDC_CLIENT_ID' | 'ADMIN_OIDC_CLIENT_SECRET', string>>;
  readonly admin: Account;
  readonly reader: Account;
  /** The clients for scripts, each as `id:secret`: one with the permissions of `admin`, one with those of `reader`. */
  readonly scripts: { readonly admin: string; readonly reader: string };
  /** Changes the permissions of an account; null locks it. */
  change(username: string, permissions: readonly string[] | null): void;
  /** A Bearer token for `/admin/api` with every permission, as a script gets it. */
  adminToken(): Promise<string>;
  /** A token with any claims and header, signed by the provider's key: what adminToken has, these put over. */
  signToken(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Stops answering, as in an outage. */
  setAway(isAway: boolean): void;
  stop(): Promise<void>;
}

export const TOKEN_TTL_SECONDS = 24 * 3600;
const SIGNING_ALGORITHM = 'ES256';

export async function startOidcProvider(options: OidcOptions): Promise<OidcProvider> {
  const { adminBaseUrl, site } = options;
  const port = options.port ?? (await freePort());
  const mount = (options.path ?? '').replace(/\/$/, '');
  const base = `http://127.0.0.1:${port}`;
  const issuer = `${base}${options.path ?? ''}`;
  const names = options.claimNames ?? { site: 'site', permissions: 'permissions' };
  const audience = `${adminBaseUrl}/admin/api`;
  const clientSecret = randomBytes(24).toString('base64url');
  const scriptSecret = randomBytes(24).toString('base64url');
  const scripts = { admin: `script:${scriptSecret}`, reader: `script-reader:${scriptSecret}` };
  const accounts = localAccounts(site, randomBytes(9).toString('base64url'));
  const everyone = [accounts.admin, accounts.reader];
  const changed = new Map<string, readonly string[] | null>();
  let isAway = false;
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const kid = randomUUID();
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: SIGNING_ALGORITHM, use: 'sig' };

  const provider = new Provider(issuer, {
    // The default one, without the warning that it forgets: so it should.
    adapter: createMemoryAdapter(0),
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(24).toString('base64url')] },
    clients: [
      {
        client_id: 'console',
        client_secret: clientSecret,
        redirect_uris: [`${adminBaseUrl}/admin/callback`],
        post_logout_redirect_uris: [`${adminBaseUrl}/admin/signed-out`],
        id_token_signed_response_alg: SIGNING_ALGORITHM,
        ...(options.withoutRefreshTokens === true ? {} : { grant_types: ['authorization_code', 'refresh_token'] }),
        backchannel_logout_uri: `${adminBaseUrl}/admin/back-channel-logout`,
        backchannel_logout_session_required: true,
      },
      ...['script', 'script-reader'].map((id) => ({
        client_id: id,
        client_secret: scriptSecret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        id_token_signed_response_alg: SIGNING_ALGORITHM,
      })),
    ],
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    scopes: ['openid', 'profile'],
    claims: {
      openid: ['sub'],
      profile: ['name', names.site, names.permissions, ...Object.values(options.claims ?? {}).flatMap(Object.keys)],
    },
    conformIdTokenClaims: false,
    // As Keycloak: without the scope offline_access, and a new one at each use.
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // Its own way out of requests to loopback, which is where the console is here, is left out.
    fetch: (url: string, { method, headers, body }: Required<RequestInit>) => fetch(url, { method, headers, body }),
    pkce: { required: () => true },
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      ClientCredentials: TOKEN_TTL_SECONDS,
      Grant: 86400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86400,
      Session: 86400,
    },
    interactions: { url: (_context: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource: logoutSource },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: TOKEN_TTL_SECONDS,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: SIGNING_ALGORITHM } },
        }),
      },
    },
    findAccount: (_context: unknown, accountId: string) => {
      const account = everyone.find(({ username }) => username === accountId);
      const permissions = changed.get(accountId) ?? account?.permissions;
      if (account === undefined || changed.get(accountId) === null) return undefined;
      const { name } = account;
      return {
        accountId,
        claims: () => ({
          sub: accountId,
          name,
          [names.site]: account.site,
          [names.permissions]: permissions,
          ...options.claims?.[accountId],
        }),
      };
    },
    // Signing in is consent: employees get no consent page.
    loadExistingGrant: async (context: GrantContext) => {
      const { client, session } = context.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile');
      await grant.save();
      return grant;
    },
    extraTokenClaims: (_context: unknown, { clientId }: { clientId: string }) => ({
      [names.site]: site,
      [names.permissions]: accounts[clientId === 'script-reader' ? 'reader' : 'admin'].permissions,
    }),
  });

  const callback = provider.callback();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (isAway) {
      response.writeHead(503).end();
      return;
    }
    const isSignIn = request.url?.startsWith('/interaction/') === true;
    // As Express does where it mounts something: the provider finds its own path by the difference.
    if (request.url?.startsWith(`${mount}/`) === true && !isSignIn) {
      Object.assign(request, { originalUrl: request.url, url: request.url.slice(mount.length) });
    }
    const answered = isSignIn ? signIn(provider, everyone, request, response) : callback(request, response);
    answered.catch(() => {
      // An interaction that has ended, or a cookie of another run.
      if (!response.headersSent) response.writeHead(400, { 'Content-Type': 'text/plain' });
      response.end('This sign-in has ended: go back to the console and begin again.');
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    issuer,
    env: { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_CLIENT_ID: 'console', ADMIN_OIDC_CLIENT_SECRET: clientSecret },
    ...accounts,
    scripts,
    change: (username, permissions) => void changed.set(username, permissions),
    setAway: (away) => {
      isAway = away;
    },
    async adminToken() {
      const response = await fetch(`${base}${mount}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(scripts.admin).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
      });
      const answer = (await response.json()) as { access_token?: string };
      if (answer.access_token === undefined) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
      return answer.access_token;
    },
    signToken(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const own = { [names.site]: site, [names.permissions]: accounts.admin.permissions };
      const all = { iss: issuer, aud: audience, sub: 'script', iat: now, exp: now + 600, ...own, ...claims };
      return new SignJWT(all)
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: 'at+jwt', ...header })
        .sign(privateKey);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface GrantContext {
  readonly oidc: { readonly client: { readonly clientId: string }; readonly session: { readonly accountId: string } };
}

/** The page between "sign out" and being signed out: one button, as the provider's form wants it. */
function logoutSource(context: { body: string }, form?: string): void {
  const button = form === undefined ? '' : '<button form="op.logoutForm" name="logout" value="yes">Sign out</button>';
  const title = form === undefined ? 'You are signed out' : 'Sign out of the provider?';
  context.body = oidcPage(title, `${form ?? ''}${button}`);
}
