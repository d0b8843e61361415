/**
 * The cost of the distance to the database for each operation on one connection, such as the feed of a hospital. A line between
 * the Worker and the endpoint of the database delays round trips by 0, 20 and 80 ms. The rest of the time is work. An operation
 * that needs twice the delay made two round trips.
 */
import { startGatewayStack } from './gateway-stack.ts';
import { measureHttp } from './load.ts';

export interface Row {
  readonly what: string;
  readonly 'line ms': number;
  readonly 'per second': string;
  readonly 'p50 ms': string;
  readonly 'p95 ms': string;
  readonly failed: number;
}

const DELAYS_MS = [0, 20, 80];

export async function bench(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const delayMs of DELAYS_MS) {
    const { gateway, operations, stop } = await startGatewayStack({ runtime: 'workerd', delayMs });
    try {
      for (const { what, expected, next, prepare } of operations) {
        await prepare?.();
        const { perSecond, p50Ms, p95Ms, failed } = await measureHttp(gateway.url, expected, next, { connections: 1 });
        rows.push({
          what,
          'line ms': delayMs,
          'per second': perSecond.toFixed(1),
          'p50 ms': p50Ms.toFixed(1),
          'p95 ms': p95Ms.toFixed(1),
          failed,
        });
      }
    } finally {
      await stop();
    }
  }
  return rows;
}
