/**
 * Brings a database's schema forward to the newest file of this folder: `DATABASE_URL=postgres://… node
 * migrations/run.ts`. Works against Neon and any other PostgreSQL, also through a transaction pooler. There is no way
 * back but a new file.
 */
import { Client, DatabaseError } from 'pg';
import { type Migration, readMigrations } from './files.ts';

export interface MigrateOptions {
  readonly log?: (line: string) => void;
  /** Where the files are; default: this folder. */
  readonly folder?: string;
}

export interface Migrated {
  /** What this run applied, by name, in order. */
  readonly applied: readonly string[];
  /** The name of the newest migration in the database. */
  readonly current: string;
}

/** Any number, the same for all runners. Transaction-scoped, so that it also holds through a pooler. */
const LOCK_KEY = 7_246_213_905;

const SCHEMA_MIGRATION = `create table if not exists schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * Applies what is missing, each file in a transaction of its own under a lock; a second runner waits and finds nothing.
 *
 * @throws an Error when an applied file was changed, the database is newer than the files, or a file fails (then that
 * file has left nothing)
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<Migrated> {
  const migrations = await readMigrations(options.folder ?? import.meta.dirname);
  const current = migrations.at(-1)?.name;
  if (current === undefined) throw new Error('there are no migrations');
  const client = new Client({ connectionString: databaseUrl });
  // A connection that breaks also fails the statement it was running, which is where it is reported.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const applied: string[] = [];
    for (;;) {
      const name = await applyNext(client, migrations);
      if (name === undefined) return { applied, current };
      options.log?.(`applied ${name}`);
      applied.push(name);
    }
  } finally {
    await client.end();
  }
}

async function applyNext(client: Client, migrations: readonly Migration[]): Promise<string | undefined> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
    await client.query(SCHEMA_MIGRATION);
    const next = migrations[await countApplied(client, migrations)];
    if (next !== undefined) await apply(client, next);
    await client.query('commit');
    return next?.name;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function countApplied(client: Client, migrations: readonly Migration[]): Promise<number> {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'select version, name, checksum from schema_migration order by version',
  );
  rows.forEach((row, index) => {
    const file = migrations[index];
    if (file === undefined) throw new Error(`the database is newer than these files: it has ${row.name}`);
    if (file.version !== row.version || file.name !== row.name || file.checksum !== row.checksum) {
      throw new Error(`${file.name}.sql is not what was applied as ${row.name}: restore it and write a new migration`);
    }
  });
  return rows.length;
}

async function apply(client: Client, { version, name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const line = error.position === undefined ? '' : ` at line ${lineAt(sql, Number(error.position))}`;
    throw new Error(`${name}.sql failed${line}: ${error.message}`, { cause: error });
  }
  // A file that commits by itself would be half applied if its second half failed.
  if (client.getTransactionStatus() !== 'T') throw new Error(`${name}.sql ends its transaction: it must not`);
  await client.query('insert into schema_migration (version, name, checksum) values ($1, $2, $3)', [
    version,
    name,
    checksum,
  ]);
}

/** @param position 1-based, in characters (code points) */
function lineAt(sql: string, position: number): number {
  return (
    Array.from(sql)
      .slice(0, position - 1)
      .filter((character) => character === '\n').length + 1
  );
}

async function main(): Promise<void> {
  const databaseUrl = process.env['DATABASE_URL'];
  if (databaseUrl === undefined) throw new Error('DATABASE_URL is not set');
  const { applied, current } = await migrate(databaseUrl, { log: console.log });
  console.log(applied.length === 0 ? `nothing to do, the schema is at ${current}` : `the schema is at ${current}`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
