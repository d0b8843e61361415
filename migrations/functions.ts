/**
 * Applies the function files whose text differs from the applied one. A release still runs while the functions of the next
 * one are applied, so the arguments and result rows of a name never change (README.md).
 */
import { type Client, DatabaseError } from 'pg';
import type { FunctionFile } from './files.ts';
import { runFile } from './statement.ts';

const SCHEMA_FUNCTION = `create table if not exists schema_function (
  name text primary key,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

/** SQLSTATE invalid_function_definition: among others, `create or replace` with other argument names or result rows. */
const INVALID_FUNCTION_DEFINITION = '42P13';

/**
 * @returns the names of the applied functions
 * @throws an Error if a function's arguments or rows changed under its name, a file is missing whose function still
 * exists, or a file fails
 */
export async function applyFunctions(client: Client, files: readonly FunctionFile[]): Promise<string[]> {
  await client.query(SCHEMA_FUNCTION);
  const existing = await countByName(client);
  await forgetDropped(client, files, existing);
  const due = await changedFiles(client, files, existing);
  // Functions call each other, and PostgreSQL resolves an SQL body when it is created. Instead of ordering them, each is
  // created unchecked first, and again with its body checked when all exist.
  await client.query('set local check_function_bodies = off');
  for (const file of due) await define(client, file, existing.has(file.function));
  await client.query('set local check_function_bodies = on');
  for (const file of due) await runFile(client, file);
  const counts = await countByName(client);
  for (const file of due) {
    if (counts.get(file.function) !== 1) {
      throw new Error(`${file.name}.sql changes the arguments of ${file.function}. ${NEW_NAME}`);
    }
    await client.query(
      `insert into schema_function (name, checksum) values ($1, $2)
        on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`,
      [file.function, file.checksum],
    );
  }
  return due.map(({ name }) => name);
}

const NEW_NAME =
  'The running release still calls it: give the changed function a new name, and keep the old one until no running ' +
  'release calls it (migrations/README.md)';

async function define(client: Client, file: FunctionFile, isReplaced: boolean): Promise<void> {
  try {
    await runFile(client, file);
  } catch (error) {
    const isOther =
      error instanceof Error &&
      error.cause instanceof DatabaseError &&
      error.cause.code === INVALID_FUNCTION_DEFINITION;
    if (!isReplaced || !isOther) throw error;
    throw new Error(`${error.message}. ${NEW_NAME}`, { cause: error });
  }
}

/** The number of functions of each name in the schema; two are overloads. */
async function countByName(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; count: number }>(
    `select proname as name, count(*)::integer as count
       from pg_proc where pronamespace = current_schema()::regnamespace group by 1`,
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/** Functions with another text, and functions that a numbered file has dropped, which must be created again. */
async function changedFiles(
  client: Client,
  files: readonly FunctionFile[],
  existing: ReadonlyMap<string, number>,
): Promise<FunctionFile[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>('select name, checksum from schema_function');
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  return files.filter((file) => applied.get(file.function) !== file.checksum || !existing.has(file.function));
}

/** A function without a file must have been dropped by a numbered file: see README.md. */
async function forgetDropped(
  client: Client,
  files: readonly FunctionFile[],
  existing: ReadonlyMap<string, number>,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'delete from schema_function where name <> all ($1) returning name',
    [files.map((file) => file.function)],
  );
  const left = rows.map(({ name }) => name).filter((name) => existing.has(name));
  if (left.length > 0) {
    throw new Error(
      `the database has functions without a file: ${left.join(', ')}. Either it is newer than these files, or a file was ` +
        'removed without a numbered file that drops its function (migrations/README.md)',
    );
  }
}
