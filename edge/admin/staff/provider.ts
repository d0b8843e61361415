/**
 * The staff's OpenID provider: discovered once an hour, called by oauth4webapi. Plain http is allowed on loopback only, for
 * the local stack.
 */
import * as oauth from 'oauth4webapi';
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { withoutFinalSlashes } from '../../../shared/final-slashes.ts';
import { isLoopbackHost } from '../../../shared/ip.ts';
import type { Config } from '../../config.ts';
import type { Deps } from '../../deps.ts';
import { createOutage } from '../../http/outage.ts';
import type { ClaimRules } from './account.ts';

const DISCOVERY_MAX_AGE_MS = 3600 * 1000;
const TIMEOUT_MS = 10_000;

interface FetchOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly body?: URLSearchParams | undefined;
  readonly signal?: AbortSignal;
}

/** The options of every request of oauth4webapi. */
interface HttpOptions {
  [oauth.customFetch]: (url: string, options: FetchOptions) => Promise<Response>;
  [oauth.allowInsecureRequests]: boolean;
  signal: () => AbortSignal;
}

export interface Provider {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly http: HttpOptions;
  readonly clientId: string;
}

export type FindProvider = () => Promise<Provider>;

export interface OidcSettings {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The `aud` of Bearer tokens for `/admin/api`. */
  readonly audience: string;
  readonly claimRules: ClaimRules;
  readonly scope: string;
}

/** @throws Fault `unavailable` if a required variable is not configured */
export function oidcSettings(config: Config): OidcSettings {
  const { ADMIN_PUBLIC_BASE_URL, ADMIN_OIDC_ISSUER, ADMIN_OIDC_CLIENT_ID } = config;
  if (ADMIN_PUBLIC_BASE_URL === undefined || ADMIN_OIDC_ISSUER === undefined || ADMIN_OIDC_CLIENT_ID === undefined) {
    throw new Fault(
      'unavailable',
      'the console is not configured: set ADMIN_PUBLIC_BASE_URL, ADMIN_OIDC_ISSUER and ADMIN_OIDC_CLIENT_ID',
    );
  }
  return {
    baseUrl: ADMIN_PUBLIC_BASE_URL,
    issuer: ADMIN_OIDC_ISSUER,
    clientId: ADMIN_OIDC_CLIENT_ID,
    clientSecret: config.ADMIN_OIDC_CLIENT_SECRET,
    audience: config.ADMIN_OIDC_AUDIENCE ?? `${ADMIN_PUBLIC_BASE_URL}/admin/api`,
    claimRules: {
      site: config.ADMIN_OIDC_SITE_CLAIM,
      permissions: config.ADMIN_OIDC_PERMISSIONS_CLAIM,
      groups: config.ADMIN_OIDC_GROUPS_CLAIM,
      byGroup: config.ADMIN_OIDC_GROUPS,
    },
    scope: config.ADMIN_OIDC_SCOPE,
  };
}

function httpOptions(deps: Pick<Deps, 'fetch'>, issuer: string): HttpOptions {
  return {
    [oauth.customFetch]: (url, { body, ...options }) =>
      deps.fetch(url, { ...options, ...(body === undefined ? {} : { body }) }),
    [oauth.allowInsecureRequests]: isLoopbackHost(new URL(issuer).hostname),
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
  };
}

/** RFC 6749 §2.3.1: Basic, unless the provider accepts the secret only in the form. */
function clientAuthentication(server: oauth.AuthorizationServer, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
}

const published = z.object({ issuer: z.url() });

/**
 * Loads the discovery document (OpenID Connect Discovery 1.0 §4). ADMIN_OIDC_ISSUER has no final slash, but the issuer in the
 * document and in tokens may have one. Tokens are compared with the document's spelling.
 *
 * @throws Fault `unavailable` without a document, or for the document of another issuer
 */
async function discover(configured: string, http: HttpOptions): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(new URL(configured), { ...http, algorithm: 'oidc' });
  if (!response.ok) {
    throw new Fault(
      'unavailable',
      `the OpenID provider answers ${response.status} where its discovery document should be`,
    );
  }
  const { data } = published.safeParse(await response.clone().json());
  if (data !== undefined && withoutFinalSlashes(data.issuer) !== configured) {
    throw new Fault('unavailable', 'issuer of the discovery document is not ADMIN_OIDC_ISSUER: correct the variable');
  }
  return oauth.processDiscoveryResponse(new URL(data?.issuer ?? configured), response);
}

export function createProvider(deps: Pick<Deps, 'config' | 'fetch' | 'now' | 'log'>): FindProvider {
  let known: { provider: Provider; until: number } | undefined;
  const outage = createOutage('OpenID provider', deps.log, deps.now);
  return async () => {
    if (known !== undefined && deps.now() < known.until) return known.provider;
    const settings = oidcSettings(deps.config);
    const http = httpOptions(deps, settings.issuer);
    try {
      const server = await discover(settings.issuer, http);
      const provider = {
        server,
        client: { client_id: settings.clientId, [oauth.clockTolerance]: 30 },
        authentication: clientAuthentication(server, settings.clientSecret),
        http,
        clientId: settings.clientId,
      };
      known = { provider, until: deps.now() + DISCOVERY_MAX_AGE_MS };
      outage.answered();
      return provider;
    } catch (error) {
      outage.failed();
      if (error instanceof Fault) throw error;
      throw new Fault('unavailable', 'the OpenID provider cannot be reached', { cause: error });
    }
  };
}
