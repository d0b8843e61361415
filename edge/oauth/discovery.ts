/** The published documents of the token service: RFC 8414 metadata and the public keys of access tokens. */
import type { Config } from '../config.ts';
import { smartConfiguration } from '../http/smart-configuration.ts';
import { keyringOf } from './keyring.ts';

/** Keys are published long before they sign (keys-cli), so a cache may be this old. */
export const JWKS_CACHE_CONTROL = 'public, max-age=300';

/**
 * RFC 8414 §2. `response_types_supported` would be empty without an authorization endpoint, and §3.2 omits empty lists.
 */
export function authorizationServerMetadata(config: Config) {
  // `capabilities` belongs to SMART. RFC 8414 §2 omits the PKCE methods without an authorization endpoint.
  const { capabilities: _, code_challenge_methods_supported: __, ...metadata } = smartConfiguration(config);
  const algorithms = metadata.token_endpoint_auth_signing_alg_values_supported;
  return {
    ...metadata,
    introspection_endpoint_auth_methods_supported: ['private_key_jwt', 'Bearer'],
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: ['private_key_jwt', 'Bearer'],
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    ...(config.INTEGRATION_DOCS_URL === undefined ? {} : { service_documentation: config.INTEGRATION_DOCS_URL }),
  };
}

/** RFC 7517 §5: every key of the ring, so that every valid token can be verified. */
export function publishedJwks(config: Config) {
  return { keys: keyringOf(config).published };
}
