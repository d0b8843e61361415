/**
 * The SMART configuration document (SMART App Launch 2.2, "Using Well-Known"), served below the OAuth and the FHIR base
 * URL. It publishes exactly what the token service accepts.
 */
import { ASSERTION_ALGORITHM_NAMES } from '../../shared/oauth/algorithms.ts';
import { Fault } from '../../shared/fault.ts';
import { scopesOf } from '../../shared/oauth/scope.ts';
import { typesOn } from '../../shared/resource-type.ts';
import type { Config } from '../config.ts';
import { pathPrefix } from './surface.ts';

/** The caching time of discovery documents, which change only with a deployment. */
export const DISCOVERY_CACHE_CONTROL = 'public, max-age=300';

/** The well-known name of authorization server metadata (RFC 8414 §3). */
export const METADATA_PATH = '/.well-known/oauth-authorization-server';

/** The path of an issuer's metadata: RFC 8414 §3.1 inserts the well-known name before the issuer's path. */
export function metadataPathOf(issuer: string | undefined): string {
  return METADATA_PATH + pathPrefix(issuer);
}

export interface OauthAddresses {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly introspectionEndpoint: string;
  readonly revocationEndpoint: string;
  readonly jwksUri: string;
}

/**
 * The public addresses of the token service, from the configuration, never from a `Host` header.
 *
 * @throws Fault `unavailable` if INTEGRATION_OAUTH_PUBLIC_BASE_URL is not configured
 */
export function oauthAddresses(config: Pick<Config, 'INTEGRATION_OAUTH_PUBLIC_BASE_URL'>): OauthAddresses {
  const issuer = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  if (issuer === undefined)
    throw new Fault('unavailable', 'the token service is not configured: INTEGRATION_OAUTH_PUBLIC_BASE_URL is missing');
  return {
    issuer,
    tokenEndpoint: `${issuer}/oauth2/token`,
    introspectionEndpoint: `${issuer}/oauth2/introspect`,
    revocationEndpoint: `${issuer}/oauth2/revoke`,
    jwksUri: `${issuer}/oauth2/jwks`,
  };
}

/**
 * The members of the document. `authorization_endpoint` is absent because the gateway has none.
 *
 * @throws Fault `unavailable` if the token service is not configured
 */
export function smartConfiguration(config: Config) {
  const addresses = oauthAddresses(config);
  return {
    issuer: addresses.issuer,
    jwks_uri: addresses.jwksUri,
    token_endpoint: addresses.tokenEndpoint,
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHM_NAMES,
    grant_types_supported: ['client_credentials'],
    scopes_supported: scopesOf(typesOn(config)),
    // SMART requires this member of every server; without an authorization endpoint no request uses it.
    code_challenge_methods_supported: ['S256'],
    introspection_endpoint: addresses.introspectionEndpoint,
    revocation_endpoint: addresses.revocationEndpoint,
    capabilities: ['client-confidential-asymmetric', 'permission-v1'],
  };
}
