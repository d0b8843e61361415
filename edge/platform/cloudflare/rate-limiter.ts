/** Rate limits by Workers' bindings, with numbers from wrangler.toml. They count per location, which is sufficient. */
import type { RateLimitBucket, RateLimiter } from '../../deps.ts';

export interface RateLimitBindings {
  readonly TOKEN_CLIENT_LIMIT: RateLimit;
  readonly TOKEN_ADDRESS_LIMIT: RateLimit;
  readonly ADMIN_ADDRESS_LIMIT: RateLimit;
  readonly KEY_LIMIT: RateLimit;
}

const BINDING = {
  'token-client': 'TOKEN_CLIENT_LIMIT',
  'token-address': 'TOKEN_ADDRESS_LIMIT',
  'admin-address': 'ADMIN_ADDRESS_LIMIT',
  key: 'KEY_LIMIT',
} as const satisfies Record<RateLimitBucket, keyof RateLimitBindings>;

export function bindingRateLimiter(bindings: RateLimitBindings): RateLimiter {
  return {
    async allow(bucket, key) {
      const { success } = await bindings[BINDING[bucket]].limit({ key });
      return success;
    },
  };
}
