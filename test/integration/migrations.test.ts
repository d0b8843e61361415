/** The migration runner, on separate databases and folders, and the schema version that the edge knows. */
import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateSchema } from '../../migrations/generate.ts';
import { migrate } from '../../migrations/run.ts';
import { serverProblems } from '../../shared/server-problems.ts';
import { type Postgres, startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';

const RUNNER = join(import.meta.dirname, '../../migrations/run.ts');

let postgres: Postgres;
let folder: string;
let client: Client;

beforeAll(async () => {
  postgres = await startPostgres({ settings: UNSAFE_BUT_FAST });
});
afterAll(() => postgres.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-migrations-test-'));
  await mkdir(join(folder, 'functions'));
  client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('drop schema public cascade; create schema public');
});
afterEach(async () => {
  await client.end();
  await rm(folder, { recursive: true });
});

const file = (name: string, sql: string) => writeFile(join(folder, name), sql);
const run = () => migrate(postgres.url, { folder });

async function tables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  return rows.map(({ name }) => name);
}

test('the edge knows the newest migration and every function', async () => {
  expect(readFileSync(new URL('../../edge/store/schema.generated.ts', import.meta.url), 'utf8')).toBe(
    await generateSchema(),
  );
});

describe('the gateway’s login', () => {
  /** The roles of the server stay when the schema is dropped. */
  const NAME = 'login "of" a test';
  const loginUrl = (name = NAME, password = "p'w/@:") => {
    const url = new URL(postgres.url);
    [url.username, url.password] = [encodeURIComponent(name), encodeURIComponent(password)];
    return url.href;
  };
  const asLogin = async (password?: string) => {
    const login = new Client({ connectionString: loginUrl(NAME, password) });
    await login.connect();
    const { rows } = await login.query<object>(
      `select current_setting('statement_timeout') as timeout, current_setting('enable_seqscan') as scans, pg_has_role(current_user, 'gateway_app', 'usage') as member`,
    );
    await login.end();
    return rows[0];
  };
  beforeEach(() => file('0001_a.sql', 'create table a ()'));

  test('is created with its settings, and a second run changes its password', async () => {
    await migrate(postgres.url, { folder, login: loginUrl() });
    expect(await asLogin()).toEqual({ timeout: '8s', scans: 'off', member: true });
    await migrate(postgres.url, { folder, login: loginUrl(NAME, 'next') });
    await expect(asLogin()).rejects.toThrow('password authentication failed');
    expect(await asLogin('next')).toEqual({ timeout: '8s', scans: 'off', member: true });
  });

  test.each([
    ['the owner', () => new URL(postgres.url).username, 'is an owner or an administrator'],
    ['a superuser', () => 'postgres', 'is an owner or an administrator'],
    ['no name', () => '', 'names no user'],
  ])('is rejected for %s, and nothing is migrated', async (_, name, reason) => {
    await expect(migrate(postgres.url, { folder, login: loginUrl(name()) })).rejects.toThrow(reason);
    expect(await tables()).toEqual([]);
  });

  test('is rejected with a password whose / is not encoded', async () => {
    const login = 'postgres://edge:a/b@localhost/gateway';
    await expect(migrate(postgres.url, { folder, login })).rejects.toThrow(/LOGIN_URL .* percent-encoded/);
  });
});

test('an old server, and one without an extension, are reported before anything is created', async () => {
  const ask: Parameters<typeof serverProblems>[0] = async (text, params) => (await client.query(text, params)).rows;
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`);
  expect(await serverProblems(ask, { version: 99, extensions: ['no_such_a', 'pg_trgm', 'no_such_b'] })).toEqual([
    `the gateway needs PostgreSQL 99 or newer, and this server is ${rows[0]?.version ?? ''}`,
    "this server lacks no_such_a and no_such_b: install PostgreSQL's contrib package on it",
  ]);
  expect(await serverProblems(ask)).toEqual([]);
});

test('a table that a long transaction uses fails the run within seconds, since requests would wait behind it', async () => {
  await file('0001_a.sql', 'create table a ()');
  await run();
  await file('0002_b.sql', 'alter table a add b integer');
  await client.query('begin; lock table a in access share mode');
  try {
    await expect(run()).rejects.toThrow(/^0002_b\.sql failed: .*lock timeout\. Another transaction uses a table/);
  } finally {
    await client.query('rollback');
  }
  expect(await run()).toEqual({ applied: ['0002_b'], current: '0002_b' });
});

test('files are applied in order, once', async () => {
  await file('0001_a.sql', 'create table a (id int); insert into a values (1);');
  await file('0002_b.sql', '-- nothing but a comment and\nalter table a add b text;');
  expect(await run()).toEqual({ applied: ['0001_a', '0002_b'], current: '0002_b' });
  expect(await run()).toEqual({ applied: [], current: '0002_b' });
  await file('0003_c.sql', 'create table c ();');
  expect(await run()).toEqual({ applied: ['0003_c'], current: '0003_c' });
  expect(await tables()).toEqual(['a', 'c', 'schema_function', 'schema_migration']);
  const { rows } = await client.query('select version, name, length(checksum) as length from schema_migration');
  expect(rows[0]).toEqual({ version: 1, name: '0001_a', length: 64 });
});

test('runners at once apply each file once between them', async () => {
  await file('0001_a.sql', 'create table a (id int); select pg_sleep(0.1);');
  await file('0002_b.sql', 'create table b (id int);');
  const runs = await Promise.all([run(), run(), run()]);
  expect(runs.flatMap(({ applied }) => applied).sort()).toEqual(['0001_a', '0002_b']);
  expect(runs.map(({ current }) => current)).toEqual(['0002_b', '0002_b', '0002_b']);
});

test('a failing file names its line, and the complete run is rolled back', async () => {
  await file('0001_a.sql', 'create table a (id int);');
  await file('0002_b.sql', '-- é😀\ncreate table b (id int);\ninsert into b\nvalues (nowhere);');
  await expect(run()).rejects.toThrow(/^0002_b\.sql failed at line 4: column "nowhere" does not exist$/);
  expect(await tables()).toEqual([]);
  await file('0002_b.sql', 'create table b (id int);');
  expect((await run()).applied).toEqual(['0001_a', '0002_b']);
});

test('an applied file must not change, except its line ends', async () => {
  await file('0001_a.sql', 'create table a (\nid int);\n');
  await run();
  await file('0001_a.sql', 'create table a (\r\nid int);\r\n');
  expect((await run()).applied).toEqual([]);
  await file('0001_a.sql', 'create table a (\nid bigint);\n');
  await file('0002_b.sql', 'create table b ();');
  await expect(run()).rejects.toThrow(/^0001_a\.sql is not what was applied as 0001_a/);
  expect(await tables()).toEqual(['a', 'schema_function', 'schema_migration']);
});

test('a database that is newer than the files is left alone', async () => {
  await file('0001_a.sql', 'create table a ();');
  await file('0002_b.sql', 'create table b ();');
  await run();
  await rm(join(folder, '0002_b.sql'));
  await expect(run()).rejects.toThrow('the database is newer than these files: it has 0002_b');
});

test('a file must not end its own transaction', async () => {
  await file('0001_a.sql', 'create table a (); commit;');
  await expect(run()).rejects.toThrow('0001_a.sql ends its transaction');
});

test('a database made by the files before the squash gets the advice to start again', async () => {
  await file('0001_gateway.sql', 'create table a ();');
  await file('0002_oauth.sql', 'create table b ();');
  await run();
  await rm(join(folder, '0001_gateway.sql'));
  await rm(join(folder, '0002_oauth.sql'));
  await file('0001_site.sql', 'create table a ();');
  await expect(run()).rejects.toThrow(/^the database was made by other migrations .* 0001_gateway .* npm run reset/);
});

/** A function that returns a text, with a setting in its definition. */
const answers = (name: string, text: string, args = '') =>
  `-- what it is for\ncreate or replace function ${name}(${args}) returns text language sql\n` +
  `set enable_seqscan = off\nas $$ select ${text} $$;\n`;

/** Function name to what it answers and its settings. */
async function functions(): Promise<Record<string, [answer: unknown, settings: string[] | null]>> {
  const { rows } = await client.query<{ name: string; settings: string[] | null }>(
    "select proname as name, proconfig as settings from pg_proc where pronamespace = 'public'::regnamespace order by 1",
  );
  const found: Record<string, [unknown, string[] | null]> = {};
  for (const { name, settings } of rows) {
    const answer = await client.query<{ answer: unknown }>(`select ${name}() as answer`);
    found[name] = [answer.rows[0]?.answer, settings];
  }
  return found;
}

const SETTING = ['enable_seqscan=off'];

describe('function files', () => {
  beforeEach(() => file('0001_a.sql', 'create table a (id int);'));

  test('are applied after the tables, with any calls between them, and again only when their text changes', async () => {
    await file('functions/one.sql', answers('one', 'two() || count(*) from a'));
    await file('functions/two.sql', answers('two', "'first'"));
    expect((await run()).applied).toEqual(['0001_a', 'functions/one', 'functions/two']);
    expect((await run()).applied).toEqual([]);
    expect(await functions()).toEqual({ one: ['first0', SETTING], two: ['first', SETTING] });

    await file('functions/two.sql', answers('two', "'second'"));
    expect((await run()).applied).toEqual(['functions/two']);
    expect(await functions()).toEqual({ one: ['second0', SETTING], two: ['second', SETTING] });
    await file('functions/two.sql', answers('two', "'second'").replaceAll('\n', '\r\n'));
    expect((await run()).applied).toEqual([]);
  });

  test('runners at once apply each function once between them', async () => {
    await file('functions/one.sql', answers('one', "'x'"));
    const runs = await Promise.all([run(), run(), run()]);
    expect(runs.flatMap(({ applied }) => applied).sort()).toEqual(['0001_a', 'functions/one']);
  });

  test.each([
    ['of SQL', answers('two', 'nowhere'), /^functions\/two\.sql failed at line 4: column "nowhere" does not exist$/],
    [
      'of PL/pgSQL',
      'create or replace function two() returns text language plpgsql as $$\nbegin\n  returm 1;\nend $$;',
      /^functions\/two\.sql failed at line 3: syntax error/,
    ],
  ])('a broken one %s takes everything of the run with it', async (_, broken, message) => {
    await file('functions/one.sql', answers('one', "'first'"));
    await run();
    await file('0002_b.sql', 'create table b ();');
    await file('functions/one.sql', answers('one', "'second'"));
    await file('functions/two.sql', broken);
    await expect(run()).rejects.toThrow(message);
    expect(await tables()).toEqual(['a', 'schema_function', 'schema_migration']);
    expect(await functions()).toEqual({ one: ['first', SETTING] });
  });

  test('one must not end its own transaction', async () => {
    await file('functions/one.sql', `${answers('one', "'x'")}commit;`);
    await expect(run()).rejects.toThrow('functions/one.sql ends its transaction');
  });

  test.each([
    ['another argument', answers('one', "'x'", 'p_new text')],
    ['another argument with a default', answers('one', "'x'", 'p_new text default null')],
    ['other rows', answers('one', '1').replace('returns text', 'returns integer')],
  ])('%s under the old name is rejected', async (_, changed) => {
    await file('functions/one.sql', answers('one', "'first'"));
    await run();
    await file('functions/one.sql', changed);
    await expect(run()).rejects.toThrow(/^functions\/one\.sql .* a new name, and keep the old one/);
    expect(await functions()).toEqual({ one: ['first', SETTING] });
  });

  test('a function without a file must be dropped by a numbered file', async () => {
    await file('functions/one.sql', answers('one', "'x'"));
    await file('functions/two.sql', answers('two', "'y'"));
    await run();
    await rm(join(folder, 'functions/one.sql'));
    await expect(run()).rejects.toThrow(/^the database has functions without a file: one\. Either it is newer/);
    await file('0002_drop.sql', 'drop function if exists one();');
    expect((await run()).applied).toEqual(['0002_drop']);
    expect(Object.keys(await functions())).toEqual(['two']);
    expect((await run()).applied).toEqual([]);
  });

  test('a function that a numbered file drops is made again from its file', async () => {
    await file('functions/one.sql', answers('one', "'x'"));
    await run();
    await file('0002_drop.sql', 'drop function if exists one();');
    await file('functions/one.sql', answers('one', "'y'", "p text default ''"));
    expect((await run()).applied).toEqual(['0002_drop', 'functions/one']);
    expect(await functions()).toEqual({ one: ['y', SETTING] });
  });

  test.each([
    ['one.sql', answers('two', "'x'")],
    ['one.sql', answers('one', "'x'") + answers('two', "'x'")],
    ['one.sql', answers('one', "'x'").replace('create or replace', 'create')],
    ['one.sql', 'select 1'],
  ])('%s that does not define just the function it is named for is rejected: %j', async (name, sql) => {
    await file(`functions/${name}`, sql);
    await expect(run()).rejects.toThrow('functions/one.sql must hold one statement, create or replace function one');
  });
});

test.each([
  ['a gap', ['0001_a.sql', '0003_c.sql'], '0003_c.sql should have number 2'],
  ['a number used twice', ['0001_a.sql', '0001_b.sql'], '0001_b.sql should have number 2'],
  ['another name', ['1-a.sql'], '1-a.sql is not named like'],
  ['nothing', [], 'there are no migrations'],
])('a folder with %s is rejected', async (_, names, message) => {
  for (const name of names) await file(name, 'select 1');
  await expect(run()).rejects.toThrow(message);
});

test('the program prints its changes, and fails with a message', async () => {
  const program = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    promisify(execFile)(process.execPath, [RUNNER, ...args], { env });
  await expect(program({ DATABASE_URL: postgres.url }, '--dry-run')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("'--dry-run'"),
  });
  expect(await tables()).toEqual([]);
  const { stdout } = await program({ DATABASE_URL: postgres.url });
  expect(stdout).toMatch(
    /^applied 0001_site\n(.*\n)*applied functions\/assert_caller\n(.*\n)*the schema is at \d{4}_\w+\n$/,
  );
  expect((await program({ DATABASE_URL: postgres.url })).stdout).toMatch(/^nothing to do, the schema is at /);
  for (const env of [{}, { DATABASE_URL: '' }]) {
    await expect(program(env)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATABASE_URL is not set\n\nusage: DATABASE_URL=/),
    });
  }
  const login = new URL(postgres.url);
  [login.username, login.password] = ['gateway_program', 'secret'];
  await program({ DATABASE_URL: postgres.url, LOGIN_URL: login.href });
  await expect(program({ DATABASE_URL: login.href })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^permission denied .*: use the connection string of the owner of the database\n$/),
  });
  const wrong = program({ DATABASE_URL: 'db.example.org/gateway' });
  await expect(wrong).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/must be a postgres:\/\/ /) });
});
