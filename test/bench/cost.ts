/**
 * The cost of each operation, for capacity planning: CPU of the Worker and of the database, and the growth of the database
 * with its indexes. Sizes are counted in pages, so they are exact to some tens of bytes. Worker and database share their cores
 * with the load: a busy machine raises CPU times, not sizes.
 */
import type { Client } from 'pg';

import { measurePointRead } from './limits.ts';
import { measureHttp } from './load.ts';
import { addSite } from './operations.ts';
import { TARGETS } from './report.ts';
import { startStack } from './stack.ts';

const SPELL = { connections: 8, requests: 2_000 };
/** A new connection costs more than its point reads, so a warm-up is left out. */
const POINT_READS = { connections: 8, warmUpMs: 300, measureMs: 700 };

/** By table. Other tables count only in the total. */
const GROUPS = {
  'bytes stored': /./,
  'of the audit': /^audit$/,
  'of messages': /^hl7_(?:message|attempt)$/,
  'of patient records': /^(?:resource|patient|hl7_(?:identity|result)|search)/,
} as const;

async function sizesOf(client: Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid)::text as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

export async function bench(): Promise<object[]> {
  const stack = await startStack('workerd');
  try {
    const requests = await addSite(stack);
    const rows: object[] = [];
    for (const operation of requests.operations) {
      const bare = (await measurePointRead(stack, requests, POINT_READS)).cpuMicros['postgres'] ?? Number.NaN;
      const before = await sizesOf(stack.client);
      const { cpuMicros, failed } = await measureHttp(stack.url, operation, SPELL, stack.watched);
      if (failed > 0) throw new Error(`${operation.what}: ${failed} unexpected answers, so the stored size is unknown`);
      const after = await sizesOf(stack.client);
      const grown = (tables: RegExp): number =>
        [...after].reduce((sum, [name, bytes]) => sum + (tables.test(name) ? bytes - (before.get(name) ?? 0) : 0), 0);
      const { gateway = 0, postgres = 0 } = cpuMicros;
      rows.push({
        what: operation.what,
        'CPU µs of workerd': Math.round(gateway),
        'CPU µs of PostgreSQL': Math.round(postgres),
        'in point reads': Number((postgres / bare).toFixed(1)),
        'at most': TARGETS[operation.what]?.pointReads ?? '',
        // Equals megabytes per million.
        ...Object.fromEntries(
          Object.entries(GROUPS).map(([name, tables]) => [name, Math.round(grown(tables) / SPELL.requests)]),
        ),
      });
    }
    return rows;
  } finally {
    await stack.stop();
  }
}
