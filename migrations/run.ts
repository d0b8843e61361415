/**
 * Brings a database's schema forward to the files of this folder: `DATABASE_URL=postgres://… node migrations/run.ts`. It
 * works with Neon and any other PostgreSQL, also through a transaction pooler. A change is undone only by a new file; the
 * rules are in README.md.
 */
import { parseArgs } from 'node:util';

import { Client } from 'pg';
import { readFunctions, readMigrations } from './files.ts';
import { applyFunctions } from './functions.ts';
import { applyMigrations } from './numbered.ts';
import { makeLogin } from './login.ts';
import { grantSchema, makeRole } from './role.ts';
import { driverUrl, POSTGRES_URL } from '../shared/postgres-url.ts';
import { serverProblems } from '../shared/server-problems.ts';

export interface MigrateOptions {
  readonly log?: (line: string) => void;
  /** By default this folder. */
  readonly folder?: string;
  /** The connection string of the gateway's login, to create it or to give it this password. */
  readonly login?: string | undefined;
}

export interface Migrated {
  /** The names of the files that this run applied, in order: numbered files, then functions. */
  readonly applied: readonly string[];
  /** The name of the newest migration in the database. */
  readonly current: string;
}

/** Any number, the same for all runners. The lock is of the transaction, so that it works through a pooler. */
const LOCK_KEY = 7_246_213_905;
/** Requests queue behind a lock that waits, such as for a backup's transaction, and are 503 after 3 s. */
const LOCK_TIMEOUT = '2s';

/**
 * Applies the missing numbered files and the changed functions in one transaction under a lock. So no program ever uses the
 * tables of one release with the functions of another. A second runner waits and finds nothing to do.
 *
 * @throws an Error, and changes nothing, if the server lacks something or an applied file was changed. Likewise if the
 * database is newer than the files or from another program, a function's arguments or rows changed, or a file fails.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<Migrated> {
  const folder = options.folder ?? import.meta.dirname;
  const migrations = await readMigrations(folder);
  const functions = await readFunctions(folder);
  const current = migrations.at(-1)?.name;
  if (current === undefined) throw new Error('there are no migrations');
  const client = new Client({ connectionString: driverUrl(databaseUrl) });
  // A broken connection also fails its statement, which reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const problems = await serverProblems(async (text, params) => (await client.query(text, params)).rows);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    const applied = await inTransaction(client, async () => {
      await makeRole(client);
      const files = await applyMigrations(client, migrations);
      const changed = await applyFunctions(client, functions);
      await grantSchema(client, functions);
      if (functions.some((file) => file.function === 'change_recover')) await client.query('select change_recover()');
      if (options.login !== undefined) await makeLogin(client, options.login);
      return [...files, ...changed];
    });
    for (const name of applied) options.log?.(`applied ${name}`);
    return { applied, current };
  } finally {
    await client.end();
  }
}

async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

const USAGE = `usage: DATABASE_URL="postgres://owner…" npm run migrate

Brings the schema of an empty or an older database forward. Running it twice is safe; there is no way back. With the gateway's
connection string in LOGIN_URL it also creates that login, or changes its password.`;

async function main(): Promise<void> {
  // Any other argument is rejected: a --dry-run that changes the schema could not be undone.
  if (parseArgs({ options: { help: { type: 'boolean' } } }).values.help === true) return console.log(USAGE);
  // With an empty one, the driver would migrate the database of its default server.
  const databaseUrl = process.env['DATABASE_URL'] ?? '';
  if (databaseUrl === '') throw new Error(`DATABASE_URL is not set\n\n${USAGE}`);
  if (!POSTGRES_URL.test(databaseUrl)) throw new Error('DATABASE_URL must be a postgres:// connection string');
  const { applied, current } = await migrate(databaseUrl, {
    log: console.log,
    login: process.env['LOGIN_URL'] || undefined,
  });
  console.log(applied.length === 0 ? `nothing to do, the schema is at ${current}` : `the schema is at ${current}`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    // insufficient_privilege, most likely of the gateway's login.
    const isForbidden = error instanceof Error && 'code' in error && error.code === '42501';
    const next = isForbidden ? ': use the connection string of the owner of the database' : '';
    console.error(error instanceof Error ? `${error.message}${next}` : error);
    process.exitCode = 1;
  }
}
