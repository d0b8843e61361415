/**
 * The driver over TCP behind a PgBouncer that has fewer server connections than the driver and reassigns them. It runs
 * in session mode and in transaction mode. Transaction mode runs without prepared statements, and with prepared statements, which a PgBouncer before 1.21 forgets.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Database } from '../../../edge/deps.ts';
import { readConnectionString } from '../../../edge/platform/postgres/connection-string.ts';
import { postgresDatabase, type PostgresDatabase } from '../../../edge/platform/postgres/postgres.ts';
import { withLimits } from '../../../edge/store/time-limits.ts';
import { raw, read, sql } from '../../../edge/store/sql.ts';
import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import { NO_PGBOUNCER, type PgBouncer, pgBouncerVersion, startPgBouncer } from '../../stack/services/pgbouncer.ts';
import { type PostgresWire, startPostgresWire } from '../../stack/services/postgres-wire.ts';
import { until } from '../../stack/services/until.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';

const version = await pgBouncerVersion();
const knowsPrepared = version !== undefined && (version[0] > 1 || version[1] >= 21);

interface Way {
  readonly mode: 'transaction' | 'session';
  readonly prepares: boolean;
  /** PgBouncer's own setting. */
  readonly preparedStatements?: number;
  /** Round trips that one batch may take. */
  readonly roundTrips: 1 | 2;
}
const WAYS: Readonly<Record<string, Way>> = {
  'in session mode': { mode: 'session', prepares: true, roundTrips: 1 },
  'in transaction mode, nothing prepared': { mode: 'transaction', prepares: false, roundTrips: 1 },
  'in transaction mode, which forgets what was prepared': { mode: 'transaction', prepares: true, roundTrips: 2 },
  ...(knowsPrepared
    ? {
        'in transaction mode, which keeps what was prepared': {
          mode: 'transaction',
          prepares: true,
          preparedStatements: 200,
          roundTrips: 1,
        },
      }
    : {}),
};

const SERVER_CONNECTIONS = 2;
const CLIENTS = 6;

describe.each(Object.entries(WAYS))('PgBouncer %s', (_, way) => {
  const { mode, prepares, preparedStatements, roundTrips } = way;
  let db: TestDatabase;
  let bouncer: PgBouncer;
  let wire: PostgresWire;
  let pool: PostgresDatabase;
  let tcp: Database;

  beforeEach(({ skip }) => skip(version === undefined, NO_PGBOUNCER));
  beforeAll(async () => {
    if (version === undefined) return;
    db = await createTestDatabase();
    await db.client.query(`create table note (id int primary key);
      grant select, insert, delete on note to ${APPLICATION_ROLE}`);
    bouncer = await startPgBouncer({
      mode,
      databaseUrl: db.url,
      connections: mode === 'session' ? CLIENTS : SERVER_CONNECTIONS,
      ...(preparedStatements === undefined ? {} : { preparedStatements }),
    });
    wire = await startPostgresWire({ targetPort: Number(new URL(bouncer.url).port), isLeftOut: () => false });
    const url = new URL(bouncer.url);
    url.port = String(wire.port);
    const connection = readConnectionString(url.href);
    if (!('host' in connection)) throw new TypeError(connection.join());
    pool = postgresDatabase({ connection, connections: CLIENTS, prepares });
    // Hundreds take turns here: each waits for as long as this machine needs for all of them.
    tcp = withLimits(pool, { answerMs: 100_000, workMs: 90_000, lockMs: 90_000 });
  });
  afterEach(() => db?.client.query('delete from note'));
  afterAll(async () => {
    await pool?.close();
    await wire?.close();
    await bouncer?.stop();
    await db?.drop();
  });

  const failure = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'no failure',
      (error: unknown) => error,
    );

  test('many at once get each their own answers', async () => {
    const before = wire.requests();
    const asked = Array.from({ length: 300 }, (_, n) => {
      const named = read`select ${n}::int as ${raw(`v${n % 20}`)}`;
      return tcp.batch([named, read`select ${`${n}`}::text as text`]).then((rows) => [n, rows] as const);
    });
    for (const [n, rows] of await Promise.all(asked))
      expect(rows).toEqual([[{ [`v${n % 20}`]: n }], [{ text: `${n}` }]]);
    expect(wire.requests() - before).toBeLessThanOrEqual(300 * roundTrips);
    const { rows } = await db.client.query(`select from pg_stat_activity
      where datname = current_database() and application_name = 'integration-gateway'`);
    expect(rows.length).toBeLessThanOrEqual(mode === 'session' ? CLIENTS : SERVER_CONNECTIONS);
  });

  test('the site setting of a batch ends with the batch', async () => {
    const site = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const settings = read`select current_setting('gateway.site', true) as site, current_setting('transaction_read_only') as only`;
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const enter = read`select set_config('gateway.site', ${site(n)}, true)`;
        const [, inside] = await tcp.batch([enter, settings] as const);
        expect(inside).toEqual([{ site: site(n), only: 'on' }]);
        const [, outside] = await tcp.batch([sql`insert into note values (${n})`, settings] as const);
        expect(outside.map((row) => ({ ...row, site: 'site' in row ? (row.site ?? '') : '' }))).toEqual([
          { site: '', only: 'off' },
        ]);
      }),
    );
  });

  test('a batch is atomic and leaves the connection usable', async () => {
    const refused = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        failure(tcp.batch([sql`insert into note values (${n})`, sql`select 1 / 0`])),
      ),
    );
    expect(new Set(refused.map((error) => (error as { code?: string }).code))).toEqual(new Set(['22012']));
    expect((await db.client.query('select from note')).rows).toEqual([]);
    expect(await tcp.run(read`select 1 as v`)).toEqual([{ v: 1 }]);
  });

  test('a server that ends is reported as away, and found again', async () => {
    await tcp.run(read`select 1`);
    const end = () =>
      db.client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'integration-gateway'`);
    const asked = failure(tcp.run(sql`insert into note select 7 from pg_sleep(5)`));
    await until('it runs', async () => {
      const { rows } = await db.client.query(
        `select from pg_stat_activity where datname = current_database() and query like 'insert into note select 7%'`,
      );
      return rows.length === 1;
    });
    await end();
    expect(await asked).toMatchObject({ name: 'Fault', kind: 'unavailable' });
    expect(await tcp.run(read`select 2 as v`)).toEqual([{ v: 2 }]);
    expect((await db.client.query('select from note')).rows).toEqual([]);
  });
});
