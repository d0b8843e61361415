/** Runs a file's text in the runner's transaction; an error contains the file's name and line. */
import { type Client, DatabaseError } from 'pg';

/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';
const IN_USE =
  'Another transaction uses a table, such as that of a backup. Nothing was changed: run npm run migrate again when it has ended';

/**
 * @param name the file's, without `.sql`
 * @throws an Error that names file and line; its cause is PostgreSQL's
 */
export async function runFile(client: Client, { name, sql }: { name: string; sql: string }): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const line = error.position === undefined ? '' : ` at line ${lineAt(sql, Number(error.position))}`;
    const next = error.code === LOCK_NOT_AVAILABLE ? `. ${IN_USE}` : '';
    throw new Error(`${name}.sql failed${line}: ${error.message}${next}`, { cause: error });
  }
  // A file that commits would be applied in part if its rest failed.
  if (client.getTransactionStatus() !== 'T') throw new Error(`${name}.sql ends its transaction: it must not`);
}

/** @param position 1-based, in characters (code points) */
function lineAt(sql: string, position: number): number {
  return (
    Array.from(sql)
      .slice(0, position - 1)
      .filter((character) => character === '\n').length + 1
  );
}
