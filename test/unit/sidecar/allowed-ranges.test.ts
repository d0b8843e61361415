/** The addresses that the sidecar accepts by the edge's list, and how seldom it requests the list. */
import { expect, test } from 'vitest';

import { createAllowedRanges } from '../../../sidecar/allowed-ranges.ts';
import { createLog } from '../../../sidecar/log.ts';
import { createMetrics } from '../../../sidecar/metrics.ts';

test('simultaneous addresses share one request', async () => {
  let asked = 0;
  const edge = {
    async ask() {
      asked += 1;
      const body = Buffer.from(JSON.stringify({ ranges: ['192.0.2.2/31'], maxAgeSeconds: 15 }));
      return { status: 200, headers: {}, body };
    },
    close: () => undefined,
  };
  const ranges = createAllowedRanges(
    edge,
    () => ({ version: '1', connections: 0 }),
    createMetrics(),
    createLog('error'),
  );
  const together = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((address) => ranges.allows(address));
  expect(await Promise.all(together)).toEqual([false, true, true, false]);
  expect(asked).toBe(1);
});
