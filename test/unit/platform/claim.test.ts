/** Row 58: an unavailable or slow jti store issues no token, and a retry by the gateway is not a replay. */
import { expect, test } from 'vitest';

import { attemptClaim } from '../../../edge/platform/claim.ts';

/** The contract of a jti store, in a map. */
function memoryClaims() {
  const attempts = new Map<string, string>();
  return {
    claim(hash: string, attempt: string): boolean {
      const known = attempts.get(hash) ?? attempt;
      attempts.set(hash, known);
      return known === attempt;
    },
  };
}

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
