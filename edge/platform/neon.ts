/** The database over Neon's HTTP driver. A batch or a single statement is one transaction and one HTTP request. */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import { release } from '../../shared/bytes.ts';
import { isNeonUrl } from '../../shared/postgres-url.ts';
import type { Config } from '../config.ts';
import type { Database, Expect } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';
import { createDatabase, type DatabaseOptions, type Driver, expectedAfter, UNKNOWN_BYTES } from './database.ts';
import { createJsonReader, createLongParams, type LongParams } from './long-json.ts';

/**
 * Reads a response to its end. A truncated answer then fails here, where the driver makes a NeonDbError of it and the
 * deadline still applies.
 */
async function fetchCompletely(
  url: string,
  {
    expect,
    long,
    body,
    ...init
  }: RequestInit & { readonly body: string; readonly expect: Expect; readonly long: LongParams },
) {
  const filled = long.fill(body);
  const response = await fetch(url, { ...init, body: filled });
  if (typeof filled !== 'string') release(filled);
  const { ok, status, headers } = response;
  const declared = Number(headers.get('content-length') ?? Number.NaN);
  // A declared length is of the compressed bytes.
  const length = declared >= 0 && !headers.has('content-encoding') ? declared : undefined;
  if (!ok || response.body === null || (length !== undefined && length <= UNKNOWN_BYTES)) {
    const text = await response.text();
    return { ok, status, text: async () => text, json: async (): Promise<unknown> => JSON.parse(text) };
  }
  const answer = await readJson(response.body, length, expect);
  return { ok, status, text: async () => '', json: async () => answer.end() };
}

async function readJson(body: ReadableStream<Uint8Array>, length: number | undefined, expect: Expect) {
  if (length !== undefined) await expect(length);
  // In pieces, and in one buffer: `text()` would hold all bytes beside their text.
  const answer = createJsonReader();
  const decoder = new TextDecoder();
  const reader = body.getReader({ mode: 'byob' });
  let buffer = new ArrayBuffer(UNKNOWN_BYTES);
  let [read, expected] = [0, length ?? UNKNOWN_BYTES];
  for (;;) {
    const { value, done } = await reader.read(new Uint8Array(buffer));
    if (done || value === undefined) break;
    read += value.byteLength;
    if (read > expected) await expect((expected = expectedAfter(read)));
    answer.write(decoder.decode(value, { stream: true }));
    ({ buffer } = value);
  }
  answer.write(decoder.decode());
  return answer;
}

/** True if Neon's driver is used: for a database at Neon, or a configured endpoint with Neon's protocol. */
export const isNeon = ({
  DATABASE_URL,
  DATABASE_FETCH_ENDPOINT,
}: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>): boolean =>
  DATABASE_FETCH_ENDPOINT !== undefined || isNeonUrl(DATABASE_URL);

/** The driver parses the string for each request, and reprints it if it must add the application's name. */
function withName(connectionString: string): string {
  if (!URL.canParse(connectionString)) return connectionString;
  const url = new URL(connectionString);
  if (!url.searchParams.has('application_name')) url.searchParams.set('application_name', 'integration-gateway');
  return url.href;
}

/** @param config the connection string, and an endpoint that replaces Neon's own */
export function neonDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>,
  options: DatabaseOptions = {},
): Database {
  const endpoint = config.DATABASE_FETCH_ENDPOINT;
  if (endpoint !== undefined) neonConfig.fetchEndpoint = endpoint;
  neonConfig.fetchFunction = fetchCompletely;
  const connect = neon(withName(config.DATABASE_URL));
  const driver: Driver = {
    async transact(queries, { readOnly, ...caller }) {
      const [only] = queries;
      const long = createLongParams();
      const options = { fetchOptions: { ...caller, long } };
      // A single statement is its own transaction, without begin and commit.
      if (only?.standalone === true) {
        const rows = await connect.query(only.text, only.params.map(long.print), { types: columnTypes, ...options });
        return [rows as object[]];
      }
      const statements = queries.map(({ text, params }) =>
        connect.query(text, params.map(long.print), { types: columnTypes }),
      );
      return (await connect.transaction(statements, { ...options, readOnly })) as object[][];
    },
    failureOf(error) {
      // Not JSON: another service is at the endpoint, or a proxy whose database is unavailable.
      if (error instanceof SyntaxError) return { state: '', message: error.message, detail: undefined };
      if (!(error instanceof NeonDbError)) return undefined;
      // No SQLSTATE: the endpoint was unreachable or could not connect to PostgreSQL.
      return { state: error.code ?? '', message: error.message, detail: error.detail };
    },
  };
  return createDatabase(driver, options);
}
