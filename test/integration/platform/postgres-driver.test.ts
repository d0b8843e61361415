/**
 * The driver over TCP beside Neon's. The same statements give the same rows and fail alike; a batch is one transaction
 * and one round trip. A lost connection, a full pool or a forgotten statement is reported or stays unseen.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Database, Query, Share } from '../../../edge/deps.ts';
import { createMemory } from '../../../edge/http/memory.ts';
import { createDatabaseMeter } from '../../../edge/platform/database-meter.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { type ConnectionString, readConnectionString } from '../../../edge/platform/postgres/connection-string.ts';
import { postgresDatabase, type PostgresDatabase } from '../../../edge/platform/postgres/postgres.ts';
import { enterSite } from '../../../edge/store/in-site.ts';
import { raw, read, sql } from '../../../edge/store/sql.ts';
import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import { startPostgresWire } from '../../stack/services/postgres-wire.ts';
import { until } from '../../stack/services/until.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';

let neon: Database;
let tcp: PostgresDatabase;
const opened: PostgresDatabase[] = [];

function connectionTo(url: string): ConnectionString {
  const connection = readConnectionString(url);
  if (!('host' in connection)) throw new TypeError(connection.join());
  return connection;
}

/** Through the connection where round trips are counted. */
function open({
  connections = 4,
  prepares = true,
  user = 'application',
  now = Date.now,
  share = undefined as (() => Share) | undefined,
} = {}): PostgresDatabase {
  const url = new URL(user === 'owner' ? db.ownerUrl : db.url);
  url.port = String(db.endpoint.wirePort);
  const memory = share === undefined ? {} : { share };
  const database = postgresDatabase({ connection: connectionTo(url.href), connections, prepares, now, ...memory });
  opened.push(database);
  return database;
}

const db = await useTestDatabase();
beforeAll(async () => {
  await db.client.query(`create table note (id int primary key, body bytea);
    grant select, insert, update, delete on note to ${APPLICATION_ROLE}`);
  neon = edgeDatabase(db);
  tcp = open({ connections: 2 });
});
afterEach(() => db.client.query('delete from note'));
afterAll(() => Promise.all(opened.map((database) => database.close())));

const failure = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('the same as over Neon', () => {
  const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const VALUES: Readonly<Record<string, Query>> = {
    text: sql`select ${'Müller \u{1F9EA} "\\\' \r\n\t'}::text as v, ''::text as empty, null::text as nothing`,
    'a number as text': sql`select ${1.5}::text as v, ${'1.50'}::text as digits`,
    numeric: sql`select ${'1.50'}::numeric as v, 12345678901234567890.1234567890::numeric as long, 'NaN'::numeric as nan`,
    integers: sql`select ${7}::int as v, ${-7}::smallint as small, ${9_007_199_254_740_991}::bigint as large, null::int as n`,
    float: sql`select ${0.1}::float8 as v, 'Infinity'::float8 as infinite, 1e300::float8 as large, 0.1::float4 as small`,
    boolean: sql`select ${true}::boolean as yes, ${false}::boolean as no, null::boolean as missing`,
    uuid: sql`select ${'0190b6f2-0000-7000-8000-000000000001'}::uuid as v`,
    'json is text, digit for digit': sql`select ${'{"a": 1.50, "b":[1e2]}'}::json as v, ${'{"b": 1.50}'}::jsonb as binary`,
    'text arrays': sql`select ${['a', 'b,c', 'd"e', 'f\\g', '', ' ', 'NULL', '{}']}::text[] as v, '{}'::text[] as empty`,
    'other arrays': sql`select array[1, 2]::int[] as v, array['1.50']::numeric[] as n, array[now()] is null as at`,
    bytea: sql`select ${ALL_BYTES}::bytea as v, ${new Uint8Array(0)}::bytea as empty`,
    'bytea to base64': sql`select encode(${ALL_BYTES}::bytea, 'base64') as v, length(${ALL_BYTES}::bytea) as bytes`,
    'times with a zone': sql`select ${'2026-11-22T04:05:06.789012+05:30'}::timestamptz as v, '-infinity'::timestamptz as ever`,
    'dates and times': sql`select '2026-11-22'::date as d, '04:05:06.7'::time as t, '1 day 2 hours'::interval as i`,
    'ranges and networks': sql`select int4range(1, 5) as v, '192.0.2.0/24'::cidr as net, '2001:db8::1'::inet as address`,
    'a row, and void': sql`select row(1, 'a') as v, set_config('gateway.site', '', true) as c, pg_sleep(0) as nothing`,
    'no column': sql`select from generate_series(1, 2)`,
    'a name twice': sql`select 1 as v, 2 as v`,
    'no row': sql`select 1 as v where false`,
    'many rows': sql`select n, repeat('x', n) as x from generate_series(1, 3000) n`,
    'a large value': sql`select repeat('é', 1000000) as v, ${'y'.repeat(1_000_000)}::text as w`,
    'no answer': sql`insert into note values (1, ${ALL_BYTES})`,
    'what came back of a write': sql`insert into note values (2, null) returning id, body`,
    'an empty statement': { text: '', params: [] },
  };

  test.each(Object.keys(VALUES))('%s', async (name) => {
    const query = VALUES[name] ?? sql``;
    const expected = await neon.batch([query, query.text.startsWith('insert') ? sql`delete from note` : query]);
    // The second time it is a statement that the connection knows.
    for (let time = 0; time < 2; time += 1) {
      await db.client.query('delete from note');
      const found = await tcp.batch([query, query.text.startsWith('insert') ? sql`delete from note` : query]);
      expect(found).toEqual(expected);
      expect(found.map((rows) => rows.map((row) => Object.keys(row)))).toEqual(
        expected.map((rows) => rows.map((row) => Object.keys(row))),
      );
    }
  });

  const NOWHERE = '00000000-0000-4000-8000-000000000000';
  test.each<[string, Query, workMs?: number]>([
    [
      'an SQLSTATE of the gateway',
      sql`select require_resource(${NOWHERE}::uuid, 'Patient', ${NOWHERE}::uuid, null, 7)`,
    ],
    ['a bug of the gateway', sql`select nowhere`],
    ['a syntax error', sql`selec 1`],
    ['two statements in one', sql`select 1; select 2`],
    ['a division', sql`select 1 / ${0}::int`],
    ['a key that is there', sql`insert into note select 1 from generate_series(1, 2)`],
    ['a privilege that is missing', sql`create table mine ()`],
    ['NUL in a text', sql`select ${'a\0b'}::text`],
    ['a read that writes', read`insert into note values (9)`],
    ['a query that exceeds its time', sql`select pg_sleep(5)`, 1_000],
  ])('fails alike: %s', async (_, query, workMs = 20_000) => {
    const limits = { answerMs: workMs + 10_000, workMs, lockMs: workMs };
    const answersOf = async (database: Database) => {
      const error = await failure(database.batch([query], limits));
      const { name, kind, message, rows, code, cause } = error as Record<string, unknown>;
      const inner = cause as { code?: string; message?: string } | undefined;
      return [kind === undefined ? 'bug' : name, kind, message, rows, code, inner?.code, inner?.message];
    };
    expect(await answersOf(tcp)).toEqual(await answersOf(neon));
    expect(await tcp.run(sql`select 1 as v`)).toEqual([{ v: 1 }]);
  });

  test('half of a surrogate pair is never made into another character', async () => {
    for (const database of [neon, tcp])
      expect(await failure(database.run(sql`select ${'\ud800'}::text`))).toBeInstanceOf(Error);
    expect(await tcp.run(sql`select 1 as v`)).toEqual([{ v: 1 }]);
  });
});

describe('a batch', () => {
  const note = (id: number) => sql`insert into note values (${id})`;
  const notes = async () =>
    (await db.client.query<{ id: number }>('select id from note order by id')).rows.map(({ id }) => id);

  test('is one round trip, with its limits, for any statements, the first time and later', async () => {
    const fresh = open();
    for (let time = 0; time < 3; time += 1) {
      await db.client.query('delete from note');
      const before = db.endpoint.requests();
      const results = await fresh.batch([
        note(1),
        sql`select ${'a'}::text as v`,
        note(2),
        read`select count(*) from note`,
      ]);
      expect(results).toEqual([[], [{ v: 'a' }], [], [{ count: 2 }]]);
      expect(db.endpoint.requests() - before).toBe(1);
    }
  });

  test.each([0, 1, 2])('is all or nothing: what fails is number %d', async (at) => {
    const queries = [note(1), note(2)].toSpliced(at, 0, sql`select 1 / 0`);
    expect(await failure(tcp.batch(queries))).toMatchObject({ code: '22012' });
    expect(await notes()).toEqual([]);
  });

  test('is rolled back if only the commit fails', async () => {
    await db.client.query(`create table late (id int references note deferrable initially deferred);
      grant insert on late to ${APPLICATION_ROLE}`);
    expect(await failure(tcp.batch([note(1), sql`insert into late values (5)`]))).toMatchObject({ code: '23503' });
    expect(await notes()).toEqual([]);
    await db.client.query('drop table late');
  });

  test('sees its writes, and its local settings end with it', async () => {
    const site = '00000000-0000-4000-8000-00000000000a';
    const settings = read`select current_setting('gateway.site', true) as site, current_setting('transaction_read_only') as read,
      current_setting('statement_timeout') as time`;
    // The rest of eight seconds, on a machine of any speed.
    const LEFT = expect.stringMatching(/^(?:[1-7]?\d{1,3}ms|[1-8]s)$/);
    const one = open({ connections: 1 });
    const [, inside] = await one.batch([read`select set_config('gateway.site', ${site}, true)`, settings] as const);
    expect(inside).toEqual([{ site, read: 'on', time: LEFT }]);
    const [, outside] = await one.batch([note(3), settings] as const);
    expect(outside).toEqual([{ site: '', read: 'off', time: LEFT }]);
  });

  test('a hundred different statements, and again', async () => {
    const one = open({ connections: 1 });
    const queries = Array.from({ length: 300 }, (_, n) => read`select ${n}::int as ${raw(`v${n}`)}`);
    for (let time = 0; time < 3; time += 1) {
      expect(await one.batch(queries)).toEqual(queries.map((_, n) => [{ [`v${n}`]: n }]));
    }
    // A statement that the driver forgets is also forgotten by the server.
    const [known] = await one.run(read<{ n: number }>`select count(*)::int as n from pg_prepared_statements`);
    expect(known?.n).toBeLessThanOrEqual(121);
  });
});

describe('replaces prepared statements', () => {
  test('is parsed once, unless preparing is off', async () => {
    const count = read<{ n: number }>`select count(*)::int as n from pg_prepared_statements where name <> ''`;
    for (const [prepares, expected] of [
      [true, 3],
      [false, 0],
    ] as const) {
      const one = open({ connections: 1, prepares });
      await one.run(count);
      // The limit of its time, that it reads only, and itself.
      expect(await one.run(count)).toEqual([{ n: expected }]);
    }
  });

  test('is parsed each time if its plan must not be cached', async () => {
    const one = open({ connections: 1 });
    const query: Query = {
      ...read`select count(*)::int as n from pg_prepared_statements where name <> ''`,
      planAnew: true,
    };
    await one.run(query);
    expect(await one.batch([query, query])).toEqual([[{ n: 2 }], [{ n: 2 }]]);
  });

  test('and is missing, as behind a pooler, is prepared again', async () => {
    const one = open({ connections: 1 });
    const query = read`select 5 as v`;
    await one.run(query);
    await one.batch([sql`deallocate all`]);
    expect(await one.run(query)).toEqual([{ v: 5 }]);
    expect(await one.run(query)).toEqual([{ v: 5 }]);
  });

  test('a statement with changed result columns is parsed again', async () => {
    const one = open({ connections: 1 });
    const all = read`select * from growing`;
    await db.client.query(
      `create table growing (a int); grant select on growing to ${APPLICATION_ROLE}; insert into growing values (1)`,
    );
    expect(await one.run(all)).toEqual([{ a: 1 }]);
    await db.client.query(`alter table growing add b text default 'x'`);
    expect(await one.run(all)).toEqual([{ a: 1, b: 'x' }]);
    expect(await one.run(all)).toEqual([{ a: 1, b: 'x' }]);
  });
});

describe('a connection', () => {
  const backends = async (): Promise<number[]> => {
    const { rows } = await db.client.query<{ pid: number }>(`select pid from pg_stat_activity
      where datname = current_database() and usename <> current_user and application_name = 'integration-gateway'`);
    return rows.map(({ pid }) => pid);
  };
  const end = async (pid: unknown) => db.client.query('select pg_terminate_backend($1)', [pid]);
  const pidOf = async (database: Database) =>
    (await database.run(read<{ pid: number }>`select pg_backend_pid() as pid`))[0]?.pid;

  test('a connection that ended while it was idle is replaced unseen', async () => {
    const one = open({ connections: 1 });
    await end(await pidOf(one));
    await until('its end to be seen', async () => (await one.run(sql`select 1 as v`).catch(() => [])).length === 1);
    expect(await one.run(sql`insert into note values (1) returning id`)).toEqual([{ id: 1 }]);
  });

  test('a connection that ended in the middle: a read is repeated, a write is reported, and neither is done twice', async () => {
    const one = open({ connections: 1 });
    // On that connection for as long as it may last, and on another one no time.
    const untilEnded = (pid: number) => raw(`pg_sleep(case pg_backend_pid() when ${pid} then 60 else 0 end)`);
    for (const [query, expected] of [
      [(pid) => read`select pg_backend_pid() as pid, ${untilEnded(pid)}`, [{ pid: expect.any(Number), pg_sleep: '' }]],
      [(pid) => sql`insert into note select 7 from ${untilEnded(pid)}`, 'unavailable'],
    ] as const satisfies readonly (readonly [(pid: number) => Query, unknown])[]) {
      const pid = (await pidOf(one)) ?? 0;
      const asked = one.run(query(pid)).catch((error: unknown) => (error as { kind?: string }).kind);
      await until('it runs', async () => {
        const { rows } = await db.client.query(
          `select from pg_stat_activity where pid = $1 and query like '%pg_sleep%'`,
          [pid],
        );
        return rows.length === 1;
      });
      await end(pid);
      expect(await asked).toEqual(expected);
    }
    expect((await db.client.query('select from note')).rows).toEqual([]);
  });

  test('that is cut without a word: a write is not sent again', async () => {
    const url = new URL(db.url);
    const wire = await startPostgresWire({ targetPort: Number(url.port), isLeftOut: () => false });
    url.port = String(wire.port);
    let attempts = 0;
    const requested = () => void (attempts += 1);
    const one = postgresDatabase({ connection: connectionTo(url.href), connections: 1, prepares: true, requested });
    opened.push(one);
    const asked = failure(one.run(sql`select pg_sleep(5)`));
    await until('it is sent', () => wire.requests() === 1);
    await wire.close();
    expect([await asked, attempts]).toEqual([expect.objectContaining({ kind: 'unavailable' }), 1]);
  });

  test('the number is limited; a waiting request is served in order, and a request that waits too long fails', async () => {
    const two = open({ connections: 2 });
    const before = new Set(await backends());
    const asked = Array.from({ length: 20 }, () => two.run(read`select pg_sleep(0.02)`));
    await Promise.all(asked);
    expect((await backends()).filter((pid) => !before.has(pid)).length).toBeLessThanOrEqual(2);

    const one = open({ connections: 1 });
    // The only connection is busy until the lock is released.
    await db.client.query('select pg_advisory_lock(1)');
    const slow = one.run(sql`select pg_advisory_xact_lock(1)`, { answerMs: 60_000, workMs: 50_000, lockMs: 50_000 });
    await until('it waits', async () => (await lockWaits(db.client)) === 1);
    expect(one.use()).toEqual({ busy: 1, idle: 0, waiting: 0 });
    const waits = await failure(one.run(sql`select 1 as v`, { answerMs: 200, workMs: 100, lockMs: 100 }));
    expect(waits).toMatchObject({ name: 'Fault', kind: 'unavailable' });
    const answers = Promise.allSettled(Array.from({ length: 100 }, () => one.run(read`select 1 as v`)));
    const waiting = await until('some wait', () => one.use().waiting || undefined);
    // The others were rejected at once.
    expect(waiting).toBeLessThanOrEqual(64);
    const many = await answers;
    const refused = many.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(20);
    expect(refused[0]).toMatchObject({
      reason: { kind: 'unavailable', message: 'all connections to the database are in use: try again' },
    });
    await db.client.query('select pg_advisory_unlock(1)');
    await slow;
    // The request that gave up waiting has released its place.
    expect(await one.run(sql`select 1 as v`)).toEqual([{ v: 1 }]);
  });

  test('a site with many requests leaves places to others, and its requests are served in order', async () => {
    const four = open({ connections: 4 });
    const limits = { answerMs: 60_000, workMs: 50_000, lockMs: 50_000 };
    const [busy, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    await db.client.query('select pg_advisory_lock(2)');
    const ended: number[] = [];
    const slow = Array.from({ length: 8 }, async (_, n) => {
      await four.batch([enterSite(busy), read`select pg_advisory_xact_lock_shared(2)`], limits);
      ended.push(n);
    });
    await until('it has three', async () => (await lockWaits(db.client)) === 3);
    expect(await four.batch([enterSite(other), read`select 1 as v`])).toMatchObject([[{}], [{ v: 1 }]]);
    expect(await four.run(read`select 2 as v`)).toEqual([{ v: 2 }]);
    expect(ended).toEqual([]);
    // Those of the site that wait do not keep others out either.
    let [served, refused] = [0, 0];
    const many = Array.from({ length: 300 }, () =>
      four.batch([enterSite(busy), read`select 3 as v`], limits).then(
        () => (served += 1),
        () => (refused += 1),
      ),
    );
    await until('as many wait as may', () => refused > 40);
    expect(await four.batch([enterSite(other), read`select 4 as v`])).toMatchObject([[{}], [{ v: 4 }]]);
    expect([served, ended]).toEqual([0, []]);
    await db.client.query('select pg_advisory_unlock(2)');
    await Promise.all([...slow, ...many]);
    expect(served).toBeGreaterThan(0);
  });

  test('to a database that rejects the login, or does not exist, is reported as away', async () => {
    const wrong = new URL(db.url);
    wrong.password = 'wrong';
    const nowhere = new URL(db.url);
    nowhere.port = '1';
    for (const { href } of [wrong, nowhere]) {
      const database = postgresDatabase({ connection: connectionTo(href), connections: 1, prepares: true });
      opened.push(database);
      expect(await failure(database.run(sql`select 1`))).toMatchObject({
        kind: 'unavailable',
        message: 'the database cannot be reached',
      });
    }
  });

  test('closing waits for the running queries', async () => {
    const one = postgresDatabase({ connection: connectionTo(db.url), connections: 1, prepares: true });
    await db.client.query('select pg_advisory_lock(3)');
    const asked = one.run(sql`insert into note select 8 from pg_advisory_xact_lock(3) returning id`);
    await until('it waits', async () => (await lockWaits(db.client)) === 1);
    const closing = one.close();
    await db.client.query('select pg_advisory_unlock(3)');
    await closing;
    expect(await asked).toEqual([{ id: 8 }]);
    expect(await failure(one.run(sql`select 1`))).toMatchObject({ kind: 'unavailable' });
  });
});

const MIB = 1024 * 1024;
const LARGE = 3_000_000;

describe.each(['Neon', 'TCP'])('a large answer over %s', (driver) => {
  const withMemory = () => {
    const shares = createMemory(32 * MIB, Date.now);
    const { measured, share } = createDatabaseMeter(shares);
    const asked =
      driver === 'TCP'
        ? open({ connections: 1, share })
        : neonDatabase({ DATABASE_URL: db.url, DATABASE_FETCH_ENDPOINT: db.endpoint.url }, { share });
    const run = async <Row extends object>(query: Query<Row>) => (await measured(() => asked.run(query))).result;
    return { shares, database: { run } };
  };

  test('waits for memory, and a small one does not', async () => {
    const { shares, database } = withMemory();
    const other = shares();
    await other.reserve('other', 20 * MIB);
    expect(await database.run(read`select 'small' as v`)).toEqual([{ v: 'small' }]);
    let isAnswered = false;
    const large = database
      .run(read<{ v: string }>`select repeat('a', ${LARGE}::int) as v`)
      .finally(() => (isAnswered = true));
    await delay(300);
    expect(isAnswered).toBe(false);
    other.end();
    expect((await large)[0]?.v).toHaveLength(LARGE);
    // Its memory is free again; else this is rejected.
    await shares().reserve('other', 20 * MIB);
  });

  test('is 503 where too many wait, and the next answer arrives', async () => {
    const { shares, database } = withMemory();
    const other = shares();
    await other.reserve('other', 20 * MIB);
    const waiting = Array.from({ length: 32 }, async () => failure(shares().reserve('', 20 * MIB)));
    expect(await failure(database.run(read`select repeat('a', ${LARGE}::int) as v`))).toMatchObject({
      kind: 'unavailable',
      headers: { 'Retry-After': '5' },
      message: expect.stringContaining('MAX_HELD_BYTES'),
    });
    expect(await database.run(read`select 'small' as v`)).toEqual([{ v: 'small' }]);
    expect(waiting).toHaveLength(32);
  });

  test('does not wait if it is the answer of a write', async () => {
    const { shares, database } = withMemory();
    await shares().reserve('other', 20 * MIB);
    const written = sql<{ v: string }>`insert into note select 9 returning repeat('a', ${LARGE}::int) as v`;
    expect((await database.run(written))[0]?.v).toHaveLength(LARGE);
  });
});
