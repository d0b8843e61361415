/**
 * The whole chain: load generator, workerd, Neon endpoint, PostgreSQL, on one machine; beside each figure the limits of
 * the same machine in the same run. Single figures are good to a factor of two, ratios are what counts.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';

import { Pool } from 'pg';

import { startGatewayStack } from './gateway-stack.ts';
import { measure, type Measured } from './load.ts';

export interface Row {
  readonly what: string;
  readonly connections: number;
  readonly 'per second': number;
  readonly 'p50 ms': string;
  readonly 'p99 ms': string;
  readonly 'CPU µs of workerd': string;
  readonly failed: number;
}

const CONNECTIONS = [1, 16];

const row = (what: string, connections: number, m: Measured): Row => ({
  what,
  connections,
  'per second': Math.round(m.perSecond),
  'p50 ms': m.p50Ms.toFixed(2),
  'p99 ms': m.p99Ms.toFixed(2),
  'CPU µs of workerd': m.cpuMicros === undefined ? '' : m.cpuMicros.toFixed(0),
  failed: m.failed,
});

/** Prepared-less point reads, as Neon's endpoint makes them: the database's own limit. */
async function measurePointReads(url: string, connections: number): Promise<Measured> {
  const pool = new Pool({ connectionString: url, max: connections });
  const started = performance.now();
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - started < 3_000) {
      await pool.query('select body from resource where type = $1 limit 1', ['Patient']);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const ms = performance.now() - started;
  await pool.end();
  return {
    perSecond: (count / ms) * 1000,
    p50Ms: (ms / count) * connections,
    p95Ms: Number.NaN,
    p99Ms: Number.NaN,
    failed: 0,
    cpuMicros: undefined,
  };
}

async function measureBareNode(connections: number): Promise<Measured> {
  const server = createServer((_, response) => response.end('{"ok":true}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const measured = await measure(`http://127.0.0.1:${port}`, connections, 200, () => ({ path: '/' }));
  server.close();
  return measured;
}

/** Everything the gateway answers, and what the machine would allow. */
export async function bench(): Promise<Row[]> {
  const { worker, databaseUrl, operations, stop } = await startGatewayStack();
  try {
    const rows: Row[] = [];
    for (const connections of CONNECTIONS) {
      rows.push(row('limit: bare Node http', connections, await measureBareNode(connections)));
      rows.push(
        row(
          'limit: workerd, hello',
          connections,
          await measure(worker.helloUrl, connections, 200, () => ({ path: '/' }), worker.pid),
        ),
      );
      rows.push(row('limit: PostgreSQL point read', connections, await measurePointReads(databaseUrl, connections)));
      for (const [what, expected, next] of operations) {
        rows.push(row(what, connections, await measure(worker.url, connections, expected, next, worker.pid)));
      }
    }
    return rows;
  } finally {
    await stop();
  }
}
