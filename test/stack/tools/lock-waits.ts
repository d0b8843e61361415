/** Who waits for a lock, in the database of a test file: those of other files are in the same PostgreSQL, and wait too. */
import type { Client } from 'pg';

/** @returns how many connections of the client's database wait for a lock at this moment */
export async function lockWaits(client: Pick<Client, 'query'>): Promise<number> {
  // Within a transaction the sessions are those of the first look, unless it is told to look again.
  await client.query('select pg_stat_clear_snapshot()');
  const { rowCount } = await client.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}
