/** Sessions that wait for a lock in the database of a test file; other files in the same PostgreSQL may wait too. */
import type { Client } from 'pg';

/** @returns how many connections of the client's database wait for a lock at this moment */
export async function lockWaits(client: Pick<Client, 'query'>): Promise<number> {
  // Within a transaction PostgreSQL reports the sessions of the first query unless its snapshot is cleared.
  await client.query('select pg_stat_clear_snapshot()');
  const { rowCount } = await client.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}
