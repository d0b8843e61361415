/**
 * The whole chain on one machine: load generator, workerd, Neon endpoint, PostgreSQL; and load generator, Deno, PostgreSQL.
 * Beside each figure stand the limits of the same machine in the same run. Single figures are good to a factor of two, ratios
 * are what counts.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';

import { Pool } from 'pg';

import { type GatewayStack, startGatewayStack } from './gateway-stack.ts';
import { measure, type Measured } from './load.ts';

export interface Row {
  readonly what: string;
  readonly connections: number;
  readonly 'per second': number;
  /** As a share of what workerd's constant answer gives in the same run. */
  readonly 'of hello': string;
  readonly 'p50 ms': string;
  readonly 'p99 ms': string;
  readonly 'CPU µs of the gateway': string;
  readonly 'CPU µs of PostgreSQL': string;
  readonly failed: number;
}

const CONNECTIONS = [1, 16];

const micros = (cpu: number | undefined): string => cpu?.toFixed(0) ?? '';

const row = (what: string, connections: number, m: Measured, hello?: number): Row => ({
  what,
  connections,
  'per second': Math.round(m.perSecond),
  'of hello': hello === undefined ? '' : (m.perSecond / hello).toFixed(3),
  'p50 ms': m.p50Ms.toFixed(2),
  'p99 ms': m.p99Ms.toFixed(2),
  'CPU µs of the gateway': micros(m.cpuMicros[0]),
  'CPU µs of PostgreSQL': micros(m.cpuMicros[1]),
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
    cpuMicros: [],
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

/** What the machine would allow. @returns rows, and how often a second workerd says hello */
async function limitsOf(
  { limits, bareRead, databaseUrl }: GatewayStack,
  connections: number,
): Promise<{ readonly rows: Row[]; readonly hello: number }> {
  const watched = [() => [limits.pid]];
  const hello = await measure(limits.helloUrl, connections, 200, () => ({ path: '/' }), watched);
  const bare = await measure(limits.bareUrl, connections, 200, bareRead, watched);
  const rows = [
    row('limit: bare Node http', connections, await measureBareNode(connections)),
    row('limit: workerd, hello', connections, hello, hello.perSecond),
    row('limit: workerd, a token verified, one subrequest', connections, bare, hello.perSecond),
    row('limit: PostgreSQL point read', connections, await measurePointReads(databaseUrl, connections)),
  ];
  return { rows, hello: hello.perSecond };
}

/** Everything the gateway answers, on each runtime. */
export async function bench(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['workerd', 'Deno'] as const) {
    const stack = await startGatewayStack({ runtime });
    const { gateway, databasePids, operations, stop } = stack;
    try {
      for (const connections of CONNECTIONS) {
        const limits = await limitsOf(stack, connections);
        rows.push(...limits.rows);
        const watched = [() => [gateway.pid], databasePids];
        for (const [what, expected, next] of operations) {
          const measured = await measure(gateway.url, connections, expected, next, watched);
          rows.push(row(`${runtime}: ${what}`, connections, measured, limits.hello));
        }
      }
    } finally {
      await stop();
    }
  }
  return rows;
}
