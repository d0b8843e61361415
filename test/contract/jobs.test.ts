/** Background work is looked for by itself: at the cron trigger's event in workerd, by a timer on Deno. */
import { expect, test } from 'vitest';

import { createTestDatabase } from '../stack/tools/database.ts';
import { startGateway } from '../stack/tools/gateway.ts';
import { onRuntimes } from './on-runtimes.ts';

onRuntimes(
  async (runtime) => {
    let looks = 0;
    const database = await createTestDatabase({
      onRequest: ({ statements }) => {
        if (statements.some(({ query }) => query.includes('job_claim'))) looks += 1;
      },
    });
    const gateway = await startGateway({ runtime, database, env: { JOB_TICK_SECONDS: '0.05' } });
    const stop = async () => {
      await gateway.stop();
      await database.drop();
    };
    return { gateway, looks: () => looks, stop };
  },
  (subject) => {
    test('background work is looked for, again and again', async () => {
      const { gateway, looks } = subject();
      for (const ticks of [1, 2]) {
        await gateway.tick?.();
        await expect.poll(looks, { timeout: 10_000 }).toBeGreaterThanOrEqual(ticks);
      }
    });
  },
);
