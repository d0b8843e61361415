import { expect, test } from 'vitest';

import { PROBE_LIMITS, REQUEST_LIMITS } from '../../../edge/store/time-limits.ts';

test('a request is answered within 10 s, a health check within 5 s, and the database is done before', () => {
  expect(REQUEST_LIMITS.answerMs).toBeLessThan(10_000);
  expect(PROBE_LIMITS.answerMs).toBeLessThan(5_000);
  for (const { answerMs, workMs, lockMs } of [REQUEST_LIMITS, PROBE_LIMITS]) {
    expect([lockMs < workMs, workMs < answerMs]).toEqual([true, true]);
  }
});
