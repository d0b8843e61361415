import { expect, test } from 'vitest';

import { addressKey } from '../../../shared/ip.ts';
import { memoryRateLimiter } from '../../../edge/platform/memory-rate-limiter.ts';

const limits = {
  RATE_LIMIT_TOKEN_PER_CLIENT: 2,
  RATE_LIMIT_TOKEN_PER_ADDRESS: 3,
  RATE_LIMIT_ADMIN_PER_ADDRESS: 3,
  RATE_LIMIT_PER_KEY: 1,
};

test('each bucket and key has a separate window, and a new one after 60 s', async () => {
  let time = 0;
  const limiter = memoryRateLimiter(limits, () => time);
  const allowed = async (...keys: ['token-client' | 'key', string][]) =>
    Promise.all(keys.map(([bucket, key]) => limiter.allow(bucket, key)));

  const a: ['token-client', string] = ['token-client', 'a'];
  expect(await allowed(a, a, a, ['token-client', 'b'], ['key', 'a'])).toEqual([true, true, false, true, true]);
  time = 59_999;
  expect(await allowed(a)).toEqual([false]);
  time = 60_000;
  expect(await allowed(a, a, a)).toEqual([true, true, false]);
});

test('a flood of keys is bounded, and drops the oldest first', async () => {
  const limiter = memoryRateLimiter(limits, () => 0);
  await limiter.allow('key', 'first');
  for (let i = 0; i < 99_999; i += 1) await limiter.allow('token-address', String(i));
  expect(await limiter.allow('token-address', '99998')).toBe(true);
  expect(await limiter.allow('key', 'first')).toBe(false);
  await limiter.allow('token-address', 'one more');
  expect(await limiter.allow('key', 'first')).toBe(true);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
