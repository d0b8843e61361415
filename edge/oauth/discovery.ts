/** What the token service publishes about itself: RFC 8414 metadata and the public keys of access tokens. */
import type { Config } from '../config.ts';
import { smartConfiguration } from '../http/smart-configuration.ts';
import { keyringOf } from './keyring.ts';

/** Keys are published long before they sign (keys-cli): a cache may be so old. */
export const JWKS_CACHE_CONTROL = 'public, max-age=300';

/**
 * RFC 8414 §2. `response_types_supported` would be empty, since there is no authorization endpoint, and an empty list
 * is left out (§3.2).
 */
export function authorizationServerMetadata(config: Config) {
  // `capabilities` is SMART's own. RFC 8414 §2 leaves the methods of PKCE out where there is no authorization endpoint.
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

/** RFC 7517 §5: all keys of the ring, so that a token verifies whichever of them signed it. */
export function publishedJwks(config: Config) {
  return { keys: keyringOf(config).published };
}
