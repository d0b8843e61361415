/** Checks that a PostgreSQL server has what the schema needs, before `migrate` creates anything and first in the doctor. */

interface ServerNeeds {
  /** The oldest major version of PostgreSQL. */
  readonly version: number;
  /** Some of PostgreSQL's contrib modules, which some distributions install separately. */
  readonly extensions: readonly string[];
}

interface ServerRow {
  readonly version: string;
  readonly number: number;
  readonly lacks: string[];
}

const SERVER_NEEDS: ServerNeeds = { version: 16, extensions: ['btree_gin', 'pg_trgm'] };

/** @param ask sends the query @returns a sentence for each thing that the server lacks */
export async function serverProblems(
  ask: (text: string, params: [extensions: readonly string[]]) => Promise<readonly ServerRow[]>,
  needs = SERVER_NEEDS,
): Promise<string[]> {
  const [server] = await ask(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
            array(select e from unnest($1::text[]) e
                   where not exists (select from pg_available_extensions a where a.name = e) order by e) as lacks`,
    [needs.extensions],
  );
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
