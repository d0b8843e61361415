/** Applies the numbered files: each once, in order, and unchanged afterwards. */
import type { Client } from 'pg';
import type { Migration } from './files.ts';
import { runFile } from './statement.ts';

const SCHEMA_MIGRATION = `create table if not exists schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * @returns the names of the applied files
 * @throws an Error if the database does not match the files, or a file fails
 */
export async function applyMigrations(client: Client, migrations: readonly Migration[]): Promise<string[]> {
  await client.query(SCHEMA_MIGRATION);
  const missing = migrations.slice(await countApplied(client, migrations));
  for (const migration of missing) {
    await runFile(client, migration);
    const { version, name, checksum } = migration;
    await client.query('insert into schema_migration (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
  }
  return missing.map(({ name }) => name);
}

async function countApplied(client: Client, migrations: readonly Migration[]): Promise<number> {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'select version, name, checksum from schema_migration order by version',
  );
  rows.forEach((row, index) => {
    const file = migrations[index];
    if (file !== undefined && file.name !== row.name) throw new Error(otherHistory(row.name, file.name));
    if (file === undefined) throw new Error(`the database is newer than these files: it has ${row.name}`);
    if (file.version !== row.version || file.checksum !== row.checksum) {
      throw new Error(`${file.name}.sql is not what was applied as ${row.name}: restore it and write a new migration`);
    }
  });
  return rows.length;
}

/** The numbered files were rewritten before the first release; older files created no database that is in use. */
function otherHistory(has: string, wanted: string): string {
  return (
    `the database was made by other migrations than these: it has ${has} where these have ${wanted}. ` +
    'One cannot be migrated to the other: npm run reset creates a local database again and deletes its data'
  );
}
