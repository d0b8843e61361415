/**
 * What each operation costs, for capacity on paper: CPU of the Worker and of the database, and how much the database grows by it,
 * indexes included. Pages are counted, not rows, so that a size is good to some tens of bytes. Both share their cores with the
 * load, so that a busy machine makes CPU dearer, not sizes.
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
  /** The same as megabytes per million. */
  readonly 'bytes stored': number;
  readonly 'of the audit': number;
  readonly 'of messages': number;
  readonly 'of charts': number;
}

/** By table; what is in none of these is told in the whole only. */
const GROUPS = {
  'of the audit': /^audit$/,
  'of messages': /^hl7_(?:message|attempt)$/,
  'of charts': /^(?:resource|patient|hl7_(?:identity|order|result)|search)/,
} as const;

type Sizes = ReadonlyMap<string, number>;

async function sizesOf(client: Client): Promise<Sizes> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid)::text as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** @throws when one is not answered as it should be: then nothing is known of what was stored */
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
        'of charts': grown(GROUPS['of charts']),
      });
    }
    return rows;
  } finally {
    await client.end();
    await stop();
  }
}
