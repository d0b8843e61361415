/**
 * The cost of the distance to the database for each operation on one connection, such as the feed of a hospital. A line between
 * the Worker and the endpoint of the database delays round trips by 0, 20 and 80 ms. The rest of the time is work. An operation
 * that needs twice the delay made two round trips.
 */
import { measureHttp } from './load.ts';
import { addSite } from './operations.ts';
import { startStack } from './stack.ts';

const DELAYS_MS = [0, 20, 80];
const SPELL = { connections: 1, warmUpMs: 1_000, measureMs: 4_000 };

export async function bench(): Promise<object[]> {
  const rows: object[] = [];
  for (const delayMs of DELAYS_MS) {
    const stack = await startStack('workerd', { delayMs });
    try {
      for (const operation of (await addSite(stack)).operations) {
        const { perSecond, p50Ms, p95Ms, failed } = await measureHttp(stack.url, operation, SPELL);
        rows.push({
          what: operation.what,
          'line ms': delayMs,
          'per second': perSecond.toFixed(1),
          'p50 ms': p50Ms.toFixed(1),
          'p95 ms': p95Ms.toFixed(1),
          failed,
        });
      }
    } finally {
      await stack.stop();
    }
  }
  return rows;
}
