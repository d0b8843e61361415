/** Row 58: an unavailable or slow jti store issues no token, and a retry by the gateway is not a replay. */
import { expect, test } from 'vitest';

import { attemptClaim } from '../../../edge/platform/claim.ts';
import { memoryClaims } from './memory-claims.ts';

test('retries a store that fails once', async () => {
  const claims = memoryClaims();
  let calls = 0;
  const lostAnswer = async () => {
    calls += 1;
    const first = claims.claim('a', 'nonce');
    if (calls === 1) throw new Error('the answer was lost');
    return first;
  };
  expect(await attemptClaim(lostAnswer)).toBe(true);
  expect(await attemptClaim(async () => claims.claim('a', 'another'))).toBe(false);
});

test.each([
  ['down', () => Promise.reject(new Error('down'))],
  ['slow', () => new Promise<boolean>(() => undefined)],
])('a store that is %s is unavailable', async (_, claim) => {
  await expect(attemptClaim(claim)).rejects.toMatchObject({ kind: 'unavailable' });
});
