/**
 * Reads the folder: the numbered files `NNNN_name.sql` in order, and `functions/`, one SQL function per file, each with the
 * checksum that detects a change.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface SqlFile {
  /** The reported name: the path without `.sql`, `0001_site` or `functions/hl7_store`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly checksum: string;
}

export interface Migration extends SqlFile {
  readonly version: number;
}

export interface FunctionFile extends SqlFile {
  /** The function's name: `hl7_store`. */
  readonly function: string;
}

/** @throws an Error that names the file if a name is not `NNNN_name.sql`, or a number is missing or used twice */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const migrations = await Promise.all((await sqlFilesOf(folder)).map((name) => readMigration(folder, name)));
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1) throw new Error(`${name}.sql should have number ${index + 1}: no gap, none twice`);
  });
  return migrations;
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  if (!/^\d{4}_[a-z0-9_]+$/.test(name)) throw new Error(`${name}.sql is not named like 0001_what_it_does.sql`);
  return { version: Number(name.slice(0, 4)), ...(await readSql(folder, name)) };
}

/** @throws an Error that names the file if it does not define exactly the function of its name */
export async function readFunctions(folder: string): Promise<FunctionFile[]> {
  const names = await sqlFilesOf(join(folder, 'functions'));
  return Promise.all(names.map((name) => readFunction(folder, name)));
}

async function readFunction(folder: string, name: string): Promise<FunctionFile> {
  const file = await readSql(folder, `functions/${name}`);
  const defined = Array.from(
    file.sql.matchAll(/^[ \t]*create\s+(?:or\s+replace\s+)?function\s+([\w.]+)/gim),
    (match) => match[1],
  );
  if (defined.length !== 1 || defined[0] !== name || !/^create or replace function /m.test(file.sql)) {
    throw new Error(`${file.name}.sql must hold one statement, create or replace function ${name}`);
  }
  return { function: name, ...file };
}

/** Names without `.sql`, in order; empty if the folder does not exist. */
async function sqlFilesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort();
}

async function readSql(folder: string, name: string): Promise<SqlFile> {
  // A checkout on Windows may change the line ends, which must not count as a change.
  const sql = (await readFile(join(folder, `${name}.sql`), 'utf8')).replaceAll('\r\n', '\n');
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
