/**
 * The function files: each is applied whenever its text is not what was applied last. A release is still running while
 * the next one's functions are applied, so the arguments and result rows of a name never change (README.md).
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
 * @returns the names of what was applied
 * @throws an Error when a function's arguments or rows changed under its name, a file is gone whose function is still
 * there, or a file fails
 */
export async function applyFunctions(client: Client, files: readonly FunctionFile[]): Promise<string[]> {
  await client.query(SCHEMA_FUNCTION);
  const existing = await countByName(client);
  await forgetDropped(client, files, existing);
  const due = await changedFiles(client, files, existing);
  // Functions call each other, and an SQL body is resolved when it is created. So that no order has to be kept, each is
  // created unchecked first, and once more with its body checked when all of them are there.
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
  'The release that is running calls it as it was: a function whose arguments or rows change gets a new name, and the ' +
  'old one stays until that release is gone (migrations/README.md)';

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

/** How many functions of each name the schema has; two are overloads. */
async function countByName(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; count: number }>(
    `select proname as name, count(*)::integer as count
       from pg_proc where pronamespace = current_schema()::regnamespace group by 1`,
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/** Those whose text is another, and those whose function a numbered file has dropped, so that it is made anew. */
async function changedFiles(
  client: Client,
  files: readonly FunctionFile[],
  existing: ReadonlyMap<string, number>,
): Promise<FunctionFile[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>('select name, checksum from schema_function');
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  return files.filter((file) => applied.get(file.function) !== file.checksum || !existing.has(file.function));
}

/** A function whose file is gone must have been dropped by a numbered file: see README.md. */
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
        'removed without a numbered one that drops its function (migrations/README.md)',
    );
  }
}
