/** The migrations in a folder, `NNNN_name.sql`, in order, with the checksum that notices a later change. No database. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Migration {
  readonly version: number;
  /** The file's name without `.sql`: `0001_gateway`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly checksum: string;
}

/** @throws an Error that names the file when a name is not `NNNN_name.sql` or a number is missing or used twice */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(names.map((name) => readMigration(folder, name)));
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1) throw new Error(`${name}.sql should have number ${index + 1}: no gap, none twice`);
  });
  return migrations;
}

async function readMigration(folder: string, fileName: string): Promise<Migration> {
  const name = fileName.slice(0, -'.sql'.length);
  if (!/^\d{4}_[a-z0-9_]+$/.test(name)) throw new Error(`${fileName} is not named like 0001_what_it_does.sql`);
  // A checkout on Windows may turn the line ends; that is no change.
  const sql = (await readFile(join(folder, fileName), 'utf8')).replaceAll('\r\n', '\n');
  return { version: Number(name.slice(0, 4)), name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
