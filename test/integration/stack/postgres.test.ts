/** The server that the local stack and the tests start: what it offers, and that it never stays behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { useFolder } from '../../stack/tools/use-folder.ts';
import { postgresBinaries } from '../../stack/services/postgres-binaries.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../../stack/services/postgres.ts';

// One for all: making a cluster is what takes time.
const dataDir = await useFolder('postgres-test');

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

const lockFile = () => join(dataDir, 'cluster/postmaster.pid');

test('PostgreSQL in UTF-8 with the extensions that Neon has, for a role without superuser rights', async () => {
  const { major } = postgresBinaries();
  const postgres = await startPostgres({ settings: UNSAFE_BUT_FAST });
  try {
    await query(postgres.url, 'create extension pg_trgm; create extension btree_gin; create extension unaccent');
    const rows = await query(
      postgres.url,
      `select split_part(current_setting('server_version'), '.', 1)::int, current_setting('server_encoding'),
        (select datlocprovider::text || ' ' || ${major < 17 ? 'datctype' : 'datlocale'} from pg_database
          where datname = current_database()),
        upper('é'), unaccent('é'), similarity('ü', 'ö'), current_setting('timezone'),
        (select rolsuper from pg_roles where rolname = current_user)`,
    );
    expect(rows).toEqual([[major, 'UTF8', `${major < 17 ? 'c' : 'b'} C.UTF-8`, 'É', 'e', 0, 'UTC', false]]);
  } finally {
    await postgres.stop();
  }
});

test('a folder keeps its data and its password, also over a crash', async () => {
  const first = await startPostgres({ dataDir });
  await query(first.url, 'create table a as select 1 as id');
  await first.kill();
  expect(existsSync(lockFile())).toBe(true);
  const second = await startPostgres({ dataDir, port: first.port });
  expect(second.url).toBe(first.url);
  expect(await query(second.url, 'select id from a')).toEqual([[1]]);
  await second.stop();
  await second.exited;
  expect(existsSync(lockFile())).toBe(false);
});

test('a lock file whose process id belongs to another program does not block', async () => {
  const first = await startPostgres({ dataDir });
  await query(first.url, 'create table b as select 1 as id');
  const lock = await readFile(lockFile(), 'utf8');
  await first.kill();
  await writeFile(lockFile(), lock.replace(/^\d+/, String(process.pid)));
  const second = await startPostgres({ dataDir });
  try {
    expect(await query(second.url, 'select id from b')).toEqual([[1]]);
    expect(await readFile(lockFile(), 'utf8')).not.toMatch(new RegExp(`^${process.pid}\n`));
  } finally {
    await second.stop();
  }
});

test('reports a port that is in use', async () => {
  const first = await startPostgres({ dataDir, settings: UNSAFE_BUT_FAST });
  try {
    await expect(startPostgres({ port: first.port })).rejects.toThrow(`port ${first.port} for PostgreSQL is in use`);
  } finally {
    await first.stop();
  }
});

test('reports a setting that PostgreSQL does not know', async () => {
  await expect(startPostgres({ settings: { no_such: '1' } })).rejects.toThrow('unrecognized configuration parameter');
});

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('it ends with a parent that ends by %s', async (signal) => {
  const module = new URL('../../stack/services/postgres.ts', import.meta.url);
  const parent = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { startPostgres } = await import(${JSON.stringify(module)});
     const postgres = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} });
     console.log(postgres.url);`,
  ]);
  const url = await firstLine(parent);
  expect(await query(url, 'select 1')).toEqual([[1]]);
  parent.kill(signal);
  await once(parent, 'exit');
  await expect.poll(() => existsSync(lockFile()), { timeout: 60_000 }).toBe(false);
  await expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  return String(line);
}
