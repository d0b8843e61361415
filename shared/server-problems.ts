/** Checks that a PostgreSQL server has what the schema needs, before `migrate` creates anything and first in the doctor. */
import type { Client } from 'pg';

interface ServerNeeds {
  /** The oldest major version of PostgreSQL. */
  readonly version: number;
  /** Some of PostgreSQL's contrib modules, which some distributions install separately. */
  readonly extensions: readonly string[];
}

const SERVER_NEEDS: ServerNeeds = { version: 16, extensions: ['btree_gin', 'pg_trgm'] };

/** @returns a sentence for each thing that the server lacks */
export async function serverProblems(client: Pick<Client, 'query'>, needs = SERVER_NEEDS): Promise<string[]> {
  const { rows } = await client.query<{ version: string; number: number; lacks: string[] }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
            array(select e from unnest($1::text[]) e
                   where not exists (select from pg_available_extensions a where a.name = e) order by e) as lacks`,
    [needs.extensions],
  );
  const [server] = rows;
  if (server === undefined) throw new TypeError('the server must describe itself in one row');
  return [
    ...(server.number < needs.version * 10_000
      ? [`the gateway needs PostgreSQL ${needs.version} or newer, and this server is ${server.version}`]
      : []),
    ...(server.lacks.length > 0
      ? [`this server lacks ${server.lacks.join(' and ')}: install PostgreSQL's contrib package on it`]
      : []),
  ];
}
