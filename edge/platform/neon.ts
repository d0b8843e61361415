/** The database over Neon's HTTP driver. A batch is one transaction and one HTTP request, and so is a single statement. */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import type { Config } from '../config.ts';
import type { Database } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';
import { createDatabase, type DatabaseOptions, type Driver } from './database.ts';
import { parameter } from './parameter.ts';

/**
 * What the driver needs of a response, read to its end: an answer that stops half-way fails here, where the driver makes
 * a NeonDbError of it and the deadline still counts.
 */
async function fetchWhole(url: string, init: RequestInit) {
  const response = await fetch(url, init);
  const body = await response.text();
  return {
    ok: response.ok,
    status: response.status,
    text: async () => body,
    json: async (): Promise<unknown> => JSON.parse(body),
  };
}

/** Whether the database is asked by Neon's driver: it is at Neon, or has an endpoint that speaks as Neon's does. */
export const isNeon = ({
  DATABASE_URL,
  DATABASE_FETCH_ENDPOINT,
}: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>): boolean =>
  DATABASE_FETCH_ENDPOINT !== undefined ||
  (URL.canParse(DATABASE_URL) && new URL(DATABASE_URL).hostname.endsWith('.neon.tech'));

/** The driver takes the string apart at each request, and prints it anew where it has to add the name of who asks. */
function withName(connectionString: string): string {
  if (!URL.canParse(connectionString)) return connectionString;
  const url = new URL(connectionString);
  if (!url.searchParams.has('application_name')) url.searchParams.set('application_name', 'integration-gateway');
  return url.href;
}

/** @param config the connection string, and the endpoint to post to when it is not Neon's own */
export function neonDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>,
  options: DatabaseOptions = {},
): Database {
  const endpoint = config.DATABASE_FETCH_ENDPOINT;
  if (endpoint !== undefined) neonConfig.fetchEndpoint = endpoint;
  neonConfig.fetchFunction = fetchWhole;
  const connect = neon(withName(config.DATABASE_URL));
  const driver: Driver = {
    async transact(queries, { readOnly, signal }) {
      const [only] = queries;
      // Alone it is a transaction of itself, without the statements that begin and end one.
      if (only?.standalone === true) {
        const options = { types: columnTypes, fetchOptions: { signal } };
        return [(await connect.query(only.text, only.params.map(parameter), options)) as object[]];
      }
      const statements = queries.map(({ text, params }) =>
        connect.query(text, params.map(parameter), { types: columnTypes }),
      );
      return (await connect.transaction(statements, { fetchOptions: { signal }, readOnly })) as object[][];
    },
    failureOf(error) {
      // An answer that is not JSON: something stands where the endpoint should, or a proxy whose database is away.
      if (error instanceof SyntaxError) return { state: '', message: error.message, detail: undefined };
      if (!(error instanceof NeonDbError)) return undefined;
      // Without an SQLSTATE the endpoint itself could not be reached or did not speak to PostgreSQL.
      return { state: error.code ?? '', message: error.message, detail: error.detail };
    },
  };
  return createDatabase(driver, options);
}
