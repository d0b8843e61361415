/**
 * The database for commands on a machine: a connection to any PostgreSQL at DATABASE_URL, including Neon. Values and Faults
 * are the same as from the edge's drivers.
 */
import pg from 'pg';

import { driverUrl } from '../../../shared/postgres-url.ts';
import type { Database, Param, Query, Results } from '../../deps.ts';
import { columnTypes } from '../../store/column-types.ts';
import { read } from '../../store/sql.ts';
import { faultOfState } from '../../store/sqlstate.ts';
import { UsageError } from './program.ts';

const toFault = (error: unknown): unknown =>
  error instanceof pg.DatabaseError ? (faultOfState(error.code ?? '', error.detail, error) ?? error) : error;

const parameter = (value: Param): unknown => (value instanceof Uint8Array ? Buffer.from(value) : value);

const BEGIN: Query = { text: 'begin', params: [] };
const COMMIT: Query = { text: 'commit', params: [] };

export interface CommandDatabase extends Database {
  close(): Promise<void>;
}

/** @throws if the server is unreachable */
export async function connectDatabase(url: string): Promise<CommandDatabase> {
  const client = new pg.Client({ connectionString: driverUrl(url) });
  await client.connect();

  const ask = async (query: Query): Promise<object[]> => {
    try {
      const values = query.params.map(parameter);
      return (await client.query<object>({ text: query.text, values, types: columnTypes })).rows;
    } catch (error) {
      throw toFault(error);
    }
  };

  return {
    async run<Row extends object>(query: Query<Row>): Promise<Row[]> {
      // The query's author has declared the type of the rows; this cast is the only one.
      return (await ask(query)) as Row[];
    },
    async batch<const Queries extends readonly Query[]>(queries: Queries): Promise<Results<Queries>> {
      const results: object[][] = [];
      try {
        await ask(BEGIN);
        for (const query of queries) results.push(await ask(query));
        await ask(COMMIT);
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
      return results as unknown as Results<Queries>;
    },
    close: () => client.end(),
  };
}

/**
 * Connects as the owner.
 *
 * @throws UsageError for a database without the gateway's tables, and for the gateway's login: every answer would be empty,
 * as if there were no site
 */
export async function connectOwner(url: string): Promise<CommandDatabase> {
  const database = await connectDatabase(url);
  const [login] = await database.run(
    read<{ database: string; name: string; hides: boolean | null }>`select current_database() as database,
      current_user as name, row_security_active(to_regclass('site')) as hides`,
  );
  if (login?.hides === false) return database;
  await database.close();
  if (login?.hides !== true)
    throw new UsageError(
      `the database ${login?.database ?? ''} has no tables of the gateway: correct the connection string, or run npm run migrate`,
    );
  throw new UsageError(
    `row security hides all sites from ${login.name}: use the connection string of the owner of the database`,
  );
}

/** Connects as the owner while `use` runs. */
export async function withDatabase<T>(url: string, use: (database: CommandDatabase) => Promise<T>): Promise<T> {
  const database = await connectOwner(url);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
