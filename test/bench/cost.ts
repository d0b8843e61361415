/**
 * The cost of each operation, for capacity planning: CPU of the Worker and of the database, and the growth of the database
 * with its indexes. Sizes are counted in pages, so they are exact to some tens of bytes. Worker and database share their cores
 * with the load: a busy machine raises CPU times, not sizes.
 */
import { Client } from 'pg';

import { cpuMicros, cpuMicrosOf } from './cpu.ts';
import { startGatewayStack } from './gateway-stack.ts';
import type { Call } from './load.ts';

const OPERATIONS = 2_000;
const CONNECTIONS = 8;

export interface Row {
  readonly what: string;
  readonly 'CPU µs of workerd': number;
  readonly 'CPU µs of PostgreSQL': number;
  /** Equals megabytes per million. */
  readonly 'bytes stored': number;
  readonly 'of the audit': number;
  readonly 'of messages': number;
  readonly 'of patient records': number;
}

/** By table. Other tables count only in the total. */
const GROUPS = {
  'of the audit': /^audit$/,
  'of messages': /^hl7_(?:message|attempt)$/,
  'of patient records': /^(?:resource|patient|hl7_(?:identity|result)|search)/,
} as const;

type Sizes = ReadonlyMap<string, number>;

async function sizesOf(client: Client): Promise<Sizes> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid)::text as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** @throws if an answer has another status, because the stored size is then unknown */
async function askAll(baseUrl: string, expected: number, next: () => Call | Promise<Call>): Promise<void> {
  let left = OPERATIONS;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { path, method = 'GET', headers = {}, body } = await next();
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers,
        body: body === undefined ? null : String(body),
      });
      await response.arrayBuffer();
      if (response.status !== expected) throw new Error(`${method} ${path}: ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

export async function bench(): Promise<Row[]> {
  const { gateway, databasePids, databaseUrl, operations, stop } = await startGatewayStack({ runtime: 'workerd' });
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const rows: Row[] = [];
    for (const { what, expected, next, prepare } of operations) {
      await prepare?.();
      const before = await sizesOf(client);
      const workerBefore = cpuMicros(gateway.pid);
      const databaseBefore = cpuMicrosOf(databasePids());
      await askAll(gateway.url, expected, next);
      const after = await sizesOf(client);
      const grown = (tables: RegExp): number =>
        Math.round(
          [...after].reduce(
            (sum, [name, bytes]) => (tables.test(name) ? sum + bytes - (before.get(name) ?? 0) : sum),
            0,
          ) / OPERATIONS,
        );
      rows.push({
        what,
        'CPU µs of workerd': Math.round((cpuMicros(gateway.pid) - workerBefore) / OPERATIONS),
        'CPU µs of PostgreSQL': Math.round((cpuMicrosOf(databasePids()) - databaseBefore) / OPERATIONS),
        'bytes stored': grown(/./),
        'of the audit': grown(GROUPS['of the audit']),
        'of messages': grown(GROUPS['of messages']),
        'of patient records': grown(GROUPS['of patient records']),
      });
    }
    return rows;
  } finally {
    await client.end();
    await stop();
  }
}
