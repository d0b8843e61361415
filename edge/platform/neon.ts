/**
 * The database over Neon's HTTP driver, whose errors become Faults here. A batch is one transaction and one HTTP
 * request, and so is a single statement: its transaction begins and ends with a limit of its time, which costs no round trip.
 * The driver retries nothing, and neither do we: a caller knows what may be repeated.
 */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import { Fault } from '../../shared/fault.ts';
import type { Config } from '../config.ts';
import type { Database, Param, Query, Results, TimeLimits } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';
import { sql } from '../store/sql.ts';
import { faultOfState } from '../store/sqlstate.ts';
import { REQUEST_LIMITS } from '../store/time-limits.ts';

/** Connection failure, insufficient resources, operator intervention, system error (PostgreSQL appendix A). */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);

const unreachable = (cause: unknown): Fault => new Fault('unavailable', 'the database cannot be reached', { cause });

function toFault(error: unknown): unknown {
  // An answer that is not JSON: something stands where the endpoint should.
  if (error instanceof SyntaxError) return unreachable(error);
  if (!(error instanceof NeonDbError)) return error;
  const state = error.code ?? '';
  if (isTimeUp(error)) {
    return new Fault('unavailable', 'the database took too long, or its clock differs from ours', { cause: error });
  }
  const known = faultOfState(state, error.detail, error);
  if (known !== undefined) return known;
  // Without an SQLSTATE the endpoint itself could not be reached or did not speak to PostgreSQL.
  return state === '' || UNAVAILABLE_CLASSES.has(state.slice(0, 2)) ? unreachable(error) : error;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += HEX[byte];
  return out;
}

/** Arrays become PostgreSQL array literals and bytes hex, so that the driver sends plain text. */
function parameter(value: Param): string | number | boolean | null {
  if (value instanceof Uint8Array) return `\\x${hex(value)}`;
  if (typeof value !== 'object' || value === null) return value;
  return `{${value.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

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

/**
 * First and last statement of each transaction. It gives what follows the time that is left and no more, and fails when
 * none is left, since PostgreSQL takes no negative limit: so work that waited on its way, or took too long in several
 * statements, does not commit after its asker was told that it failed. The settings end with the transaction, also
 * behind a pooler.
 *
 * @param deadline milliseconds since the epoch, by a clock that agrees with the database's to a second or so
 */
const limitTime = (deadline: number, { lockMs }: TimeLimits): Query =>
  sql`select set_config('lock_timeout', ${String(lockMs)}, true), set_config('statement_timeout',
    (select case when rest < 1 then -1 else floor(rest) end
       from (select ${deadline}::float8 - 1000 * extract(epoch from clock_timestamp())::float8) t (rest))::text, true)`;

const isTimeUp = ({ code, message }: NeonDbError): boolean => code === '22023' && message.includes('statement_timeout');

/** @param config the connection string, and the endpoint to post to when it is not Neon's own */
export function neonDatabase(config: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>): Database {
  const endpoint = config.DATABASE_FETCH_ENDPOINT;
  if (endpoint !== undefined) neonConfig.fetchEndpoint = endpoint;
  neonConfig.fetchFunction = fetchWhole;
  const connect = neon(config.DATABASE_URL);
  const prepare = (query: Query) => connect.query(query.text, query.params.map(parameter), { types: columnTypes });

  /** Rows of each query; they are what the query's author declared them to be: this is the door. */
  const ask = async (queries: readonly Query[], limits: TimeLimits): Promise<object[][]> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), limits.answerMs);
    try {
      const limit = limitTime(Date.now() + limits.workMs, limits);
      const statements = [limit, ...queries, limit].map(prepare);
      const results = await connect.transaction(statements, { fetchOptions: { signal: abort.signal } });
      return results.slice(1, -1) as object[][];
    } catch (error) {
      throw toFault(error);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async run<Row extends object>(query: Query<Row>, limits = REQUEST_LIMITS): Promise<Row[]> {
      const [rows] = await ask([query], limits);
      return rows as Row[];
    },
    async batch<const Queries extends readonly Query[]>(queries: Queries, limits = REQUEST_LIMITS) {
      return (await ask(queries, limits)) as unknown as Results<Queries>;
    },
  };
}
