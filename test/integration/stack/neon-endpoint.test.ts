/** The endpoint as the real driver of the edge sees it, in front of a real PostgreSQL. */
import { neon, NeonDbError, neonConfig } from '@neondatabase/serverless';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../stack/services/until.ts';
import { useFolder } from '../../stack/tools/use-folder.ts';
import { type NeonEndpoint, startNeonEndpoint } from '../../stack/services/neon-endpoint.ts';
import type { NeonRequest } from '../../stack/services/neon-request.ts';
import { type Postgres, startPostgres, UNSAFE_BUT_FAST } from '../../stack/services/postgres.ts';

const dataDir = await useFolder('endpoint-test');
let postgres: Postgres;
let endpoint: NeonEndpoint;
const seen: NeonRequest[] = [];
const database = () => neon(postgres.url);

beforeAll(async () => {
  postgres = await startPostgres({ dataDir, settings: UNSAFE_BUT_FAST });
  endpoint = await startNeonEndpoint({ databaseUrl: postgres.url, onRequest: (request) => seen.push(request) });
  neonConfig.fetchEndpoint = endpoint.url;
  await database()`create table item (
    id integer primary key, name text not null check (name <> ''), parent integer
      constraint item_parent references item deferrable initially deferred)`;
});

beforeEach(async () => {
  await database()`truncate item`;
  seen.length = 0;
});

afterAll(async () => {
  await endpoint.close();
  await postgres.stop();
});

/** The error that the driver throws for a query that must fail. */
async function failure(query: Promise<unknown>): Promise<NeonDbError> {
  const outcome = await query.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof NeonDbError)) throw new Error(`expected a NeonDbError, got ${String(outcome)}`);
  return outcome;
}

describe('values', () => {
  test('come back as the driver parses them', async () => {
    const [row] = await database()`select 1::int4 as int4, 9007199254740993::int8 as int8, 1.50::numeric as numeric,
      true as bool, null::text as nothing, '{"a":[1,null]}'::json as json, 'ä€😀' as text, ''::text as empty,
      array['a','b,"c',null] as array, '2026-11-21T12:00:00.123Z'::timestamptz as at, '\\x00ff'::bytea as bytes,
      '7b0e5a3c-0000-4000-8000-000000000000'::uuid as uuid`;
    expect(row).toEqual({
      int4: 1,
      int8: '9007199254740993',
      numeric: '1.50',
      bool: true,
      nothing: null,
      json: { a: [1, null] },
      text: 'ä€😀',
      empty: '',
      array: ['a', 'b,"c', null],
      at: new Date('2026-11-21T12:00:00.123Z'),
      bytes: Buffer.from([0, 255]),
      uuid: '7b0e5a3c-0000-4000-8000-000000000000',
    });
  });

  test('are sent as parameters', async () => {
    const at = new Date('2026-11-21T12:00:00.123Z');
    const array = ['a', 'b,"c', null, '\\'];
    const [row] = await database()`select ${null}::text as nothing, ${array}::text[] as array,
      ${{ a: [1.5, 'é'] }}::jsonb as json, ${Buffer.from([0, 1, 255])}::bytea as bytes, ${at}::timestamptz as at,
      ${true}::bool as bool, ${42}::int as number, ${"'; drop table item; --"}::text as text`;
    expect(row).toEqual({
      nothing: null,
      array,
      json: { a: [1.5, 'é'] },
      bytes: Buffer.from([0, 1, 255]),
      at,
      bool: true,
      number: 42,
      text: "'; drop table item; --",
    });
  });

  test('texts of several megabytes pass both ways', async () => {
    const text = 'é'.repeat(4 * 1024 * 1024);
    const [row] = await database()`select ${text}::text as text`;
    expect(row?.['text'] === text).toBe(true);
  });
});

describe('results', () => {
  test('have rows as arrays or objects, by the request', async () => {
    const sql = neon(postgres.url, { arrayMode: true });
    expect(await sql`select 1 as a, 2 as a`).toEqual([[1, 2]]);
    expect(await database()`select 1 as a, 2 as b`).toEqual([{ a: 1, b: 2 }]);
  });

  test('have fields, command and row count', async () => {
    const sql = neon(postgres.url, { fullResults: true });
    const inserted = await sql`insert into item (id, name) values (1, 'a'), (2, 'b')`;
    expect(inserted).toMatchObject({ command: 'INSERT', rowCount: 2, rows: [], fields: [] });
    expect(await sql`update item set name = 'c'`).toMatchObject({ command: 'UPDATE', rowCount: 2 });
    expect(await sql`create table other ()`).toMatchObject({ command: 'CREATE', rowCount: null });
    expect(await sql`drop table other`).toMatchObject({ command: 'DROP', rowCount: null });
    const selected = await sql`select id, name from item where false`;
    expect(selected).toMatchObject({ command: 'SELECT', rowCount: 0, rows: [] });
    expect(selected.fields.map(({ name, dataTypeID, format }) => ({ name, dataTypeID, format }))).toEqual([
      { name: 'id', dataTypeID: 23, format: 'text' },
      { name: 'name', dataTypeID: 25, format: 'text' },
    ]);
  });
});

describe('errors', () => {
  test('carry SQLSTATE and constraint', async () => {
    const sql = database();
    await sql`insert into item (id, name) values (1, 'a')`;
    expect(await failure(sql`insert into item (id, name) values (1, 'b')`)).toMatchObject({
      message: 'duplicate key value violates unique constraint "item_pkey"',
      severity: 'ERROR',
      code: '23505',
      detail: 'Key (id)=(1) already exists.',
      schema: 'public',
      table: 'item',
      constraint: 'item_pkey',
    });
    expect(await failure(sql`insert into item (id, name) values (2, '')`)).toMatchObject({
      code: '23514',
      constraint: 'item_name_check',
    });
    expect(await failure(sql`insert into item (id, name) values (2, null)`)).toMatchObject({
      code: '23502',
      column: 'name',
    });
  });

  test('carry position and hint', async () => {
    expect(await failure(database()`select nam from item`)).toMatchObject({
      code: '42703',
      position: '8',
      hint: expect.stringContaining('item.name'),
    });
  });

  test.each([
    ['several commands in one string', 'select 1; select 2', [], '42601'],
    ['too few parameters', 'select $1::text, $2::text', ['a'], '08P01'],
    ['NUL in a text', 'select $1::text', ['a\0b'], '22021'],
    ['a parameter that is not a number', 'select $1::int', ['x'], '22P02'],
  ])('%s', async (_, text, params, code) => {
    expect(await failure(database().query(text, params))).toMatchObject({ code });
  });

  test('errors of a function keep their SQLSTATE and detail', async () => {
    const raise = `do $$ begin raise exception 'no' using errcode = 'GW401', detail = '[0]'; end $$`;
    expect(await failure(database().query(raise))).toMatchObject({ message: 'no', code: 'GW401', detail: '[0]' });
  });

  test.each([
    ['NUL in the statement', "select 'a\0b'", []],
    ['a lone surrogate', 'select $1::text', ['\ud800']],
    ['more parameters than the wire can count', 'select 1', Array.from({ length: 65_536 }, () => 'a')],
  ])('%s never reaches PostgreSQL and has no SQLSTATE', async (_, text, params) => {
    expect(await failure(database().query(text, params))).toMatchObject({ code: undefined });
    expect(seen).toEqual([]);
  });

  test('errors for a wrong password and for a missing database are PostgreSQL’s', async () => {
    const url = new URL(postgres.url);
    url.password = 'wrong';
    expect(await failure(neon(url.href)`select 1`)).toMatchObject({ code: '28P01' });
    expect(await failure(neon(postgres.url.replace(/gateway$/, 'nowhere'))`select 1`)).toMatchObject({ code: '3D000' });
  });
});

describe('a batch', () => {
  test('is one request, one transaction, and a list of results', async () => {
    const sql = database();
    const before = endpoint.requests();
    const [, rows, first, second] = await sql.transaction([
      sql`insert into item (id, name) values (1, 'a')`,
      sql`select name from item where id = ${1}`,
      sql`select pg_current_xact_id()::text as xact`,
      sql`select pg_current_xact_id()::text as xact`,
    ]);
    expect(rows).toEqual([{ name: 'a' }]);
    expect(first).toEqual(second);
    expect(endpoint.requests() - before).toBe(1);
    expect(seen.map(({ begin, statements }) => [begin, statements.length])).toEqual([['begin', 4]]);
  });

  test('keeps nothing and reports the first error when a statement fails', async () => {
    const sql = database();
    const batch = sql.transaction([
      sql`insert into item (id, name) values (1, 'a')`,
      sql`insert into item (id, name) values (2, '')`,
      sql`insert into nowhere values (1)`,
    ]);
    expect(await failure(batch)).toMatchObject({ code: '23514', constraint: 'item_name_check' });
    expect(await sql`select * from item`).toEqual([]);
  });

  test('keeps nothing when only the commit fails', async () => {
    const sql = database();
    const batch = sql.transaction([sql`insert into item (id, name, parent) values (1, 'a', 7)`]);
    expect(await failure(batch)).toMatchObject({ code: '23503', constraint: 'item_parent' });
    expect(await sql`select * from item`).toEqual([]);
  });

  test('may be empty', async () => {
    expect(await database().transaction([])).toEqual([]);
  });

  test.each([
    ['ReadUncommitted', 'read uncommitted'],
    ['ReadCommitted', 'read committed'],
    ['RepeatableRead', 'repeatable read'],
    ['Serializable', 'serializable'],
  ] as const)('runs in isolation level %s', async (isolationLevel, expected) => {
    const sql = database();
    const [rows] = await sql.transaction([sql`show transaction_isolation`], { isolationLevel });
    expect(rows).toEqual([{ transaction_isolation: expected }]);
  });

  test('may be read-only and deferrable', async () => {
    const sql = database();
    const insert = sql`insert into item (id, name) values (1, 'a')`;
    expect(await failure(sql.transaction([insert], { readOnly: true }))).toMatchObject({ code: '25006' });
    const options = { isolationLevel: 'Serializable', readOnly: true, deferrable: true } as const;
    const results = await sql.transaction([sql`show transaction_read_only`, sql`show transaction_deferrable`], options);
    expect(results).toEqual([[{ transaction_read_only: 'on' }], [{ transaction_deferrable: 'on' }]]);
  });
});

describe('connections', () => {
  test('a transaction left open does not reach the next request', async () => {
    const sql = database();
    await sql`begin`;
    await sql`insert into item (id, name) values (1, 'a')`;
    // Its connection is closed, and PostgreSQL notices that a moment later.
    await until('the transaction ends', async () => {
      const open =
        await sql`select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
      return open.length === 0;
    });
    expect(await sql`select id from item`).toEqual([{ id: 1 }]);
  });

  test('a request may name another database of the same server', async () => {
    const sql = database();
    await sql.query('create database other template template0');
    expect(await neon(postgres.url.replace(/gateway$/, 'other'))`select current_database() as name`).toEqual([
      { name: 'other' },
    ]);
  });

  test('serve a thousand queries at once, each with its own answer', async () => {
    const sql = database();
    const numbers = Array.from({ length: 1000 }, (_, index) => index);
    const rows = await Promise.all(numbers.map((number) => sql`select ${number}::int as number`));
    expect(rows.map(([row]) => row?.['number'])).toEqual(numbers);
  });

  test('a session that PostgreSQL ends fails its request only', async () => {
    const sql = database();
    expect(await failure(sql`select pg_terminate_backend(pg_backend_pid())`)).toMatchObject({ code: '57P01' });
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  });

  test.each(['stop', 'kill'] as const)('come back after PostgreSQL’s %s and start', async (end) => {
    const sql = database();
    await sql`insert into item (id, name) values (1, 'a')`;
    const interrupted = failure(sql.transaction([sql`update item set name = 'b'`, sql`select pg_sleep(3600)`]));
    await expect
      .poll(() => sql`select 1 from pg_stat_activity where wait_event = 'PgSleep'`, { timeout: 60_000 })
      .toHaveLength(1);
    await postgres[end]();
    expect((await interrupted).code ?? '57P01').toMatch(/^57P0[12]$/);
    const down = await failure(sql`select 1`);
    expect(down).toMatchObject({ code: undefined, message: expect.stringContaining('HTTP status 503') });

    postgres = await startPostgres({ dataDir, port: postgres.port, settings: UNSAFE_BUT_FAST });
    expect(await sql`select name from item`).toEqual([{ name: 'a' }]);
  });
});

describe('rejects requests that the driver would not send', () => {
  const headers = () => ({
    'Neon-Connection-String': postgres.url,
    'Neon-Raw-Text-Output': 'true',
    'Neon-Array-Mode': 'true',
  });
  test.each([
    ['no JSON', 'select 1', {}, 400],
    ['no query', '{}', {}, 400],
    ['a parameter that is not a string', '{"query":"select 1","params":[{}]}', {}, 400],
    ['no connection string', '{"query":"select 1"}', { 'Neon-Connection-String': '' }, 400],
    ['parsed output', '{"query":"select 1"}', { 'Neon-Raw-Text-Output': 'false' }, 400],
    ['an unknown isolation level', '{"queries":[]}', { 'Neon-Batch-Isolation-Level': 'Chaos' }, 400],
  ])('%s', async (_, body, changed, status) => {
    const response = await fetch(endpoint.url, { method: 'POST', body, headers: { ...headers(), ...changed } });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ message: expect.any(String) });
  });

  test('a GET', async () => {
    expect((await fetch(endpoint.url)).status).toBe(405);
  });
});
