/**
 * The database over Neon's HTTP driver, whose errors become Faults here. A batch is one transaction and one HTTP
 * request, and so is a single statement: its transaction begins and ends with a limit of its time, which costs no round trip.
 * What a wrong clock refused is asked again, and so is, within the same deadline, what failed for a moment (a database that
 * wakes up, a pooler that starts anew): a transaction that reads only, or one that PostgreSQL says it has not begun.
 */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import { Fault } from '../../shared/fault.ts';
import type { Config } from '../config.ts';
import type { Database, Param, Query, Results, TimeLimits } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';
import { sql } from '../store/sql.ts';
import { faultOfState } from '../store/sqlstate.ts';
import { REQUEST_LIMITS } from '../store/time-limits.ts';
import { createDatabaseClock } from './database-clock.ts';

const unreachable = (cause: unknown): Fault => new Fault('unavailable', 'the database cannot be reached', { cause });

/** PostgreSQL lets nobody in at this moment (57P03, 53300), or its proxy found no way to it (08001, 08004). */
const NOT_BEGUN = new Set(['57P03', '53300', '08001', '08004']);

/** Pauses before the second and the third attempt, in milliseconds. */
const PAUSES_MS = [100, 500];

/** Whether the same may be asked again: nothing of it was done, or there was nothing to do. */
function mayRepeat(error: unknown, isHarmless: boolean): boolean {
  // An answer that is not JSON, as a proxy gives it whose database is away.
  if (error instanceof SyntaxError) return isHarmless;
  if (!(error instanceof NeonDbError) || lateAt(error) !== undefined) return false;
  const state = error.code ?? '';
  if (NOT_BEGUN.has(state)) return true;
  return isHarmless && (state === '' || /^(?:08|57P0)/.test(state));
}

/** @param saysItReads what then writes is a bug of ours, whatever the database is like */
function toFault(error: unknown, saysItReads: boolean): unknown {
  // An answer that is not JSON: something stands where the endpoint should.
  if (error instanceof SyntaxError) return unreachable(error);
  if (!(error instanceof NeonDbError)) return error;
  const state = error.code ?? '';
  // Every transaction asks for it: migrations go first, and until they have, nothing is served.
  if (state === '42883' && error.message.includes('limit_time'))
    return new Fault('unavailable', 'the database does not have the function limit_time', { cause: error });
  // Without an SQLSTATE the endpoint itself could not be reached or did not speak to PostgreSQL.
  if (state === '') return unreachable(error);
  if (state === '25006' && saysItReads) return error;
  return faultOfState(state, error.detail, error) ?? error;
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

/** Whether all of it may be asked again, whatever became of it. */
const repeats = (queries: readonly Query[]): boolean =>
  queries.every(({ reads, notes }) => reads === true || notes === true);
const readsOnly = (queries: readonly Query[]): boolean => queries.every(({ reads }) => reads === true);

interface TimeRow {
  /** The database's clock, milliseconds since the epoch. */
  readonly at: number;
}

/**
 * First and last statement of each transaction (migrations/functions/limit_time.sql), so that nothing commits past its time.
 *
 * @param deadline milliseconds since the epoch, by the database's clock
 */
const limitTime = (deadline: number, { lockMs, workMs }: TimeLimits): Query<TimeRow> =>
  sql<TimeRow>`select limit_time(${deadline}, ${lockMs}, ${workMs}) as at`;

/** The database's clock, where it refused to work on because the deadline had passed. */
function lateAt({ code, message }: NeonDbError): number | undefined {
  const at = code === 'GW503' ? /^late (\d+)$/.exec(message)?.[1] : undefined;
  return at === undefined ? undefined : Number(at);
}

export interface NeonOptions {
  /** Milliseconds since the epoch; default the machine's clock. */
  readonly now?: () => number;
  /** Told of each HTTP request that has ended, and how many milliseconds it took. */
  readonly requested?: (ms: number) => void;
}

/** @param config the connection string, and the endpoint to post to when it is not Neon's own */
export function neonDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>,
  { now = Date.now, requested = () => undefined }: NeonOptions = {},
): Database {
  const endpoint = config.DATABASE_FETCH_ENDPOINT;
  if (endpoint !== undefined) neonConfig.fetchEndpoint = endpoint;
  neonConfig.fetchFunction = fetchWhole;
  const connect = neon(config.DATABASE_URL);
  const clock = createDatabaseClock();
  const prepare = (query: Query) => connect.query(query.text, query.params.map(parameter), { types: columnTypes });

  /** Rows of each query; they are what the query's author declared them to be: this is the door. */
  const transact = async (queries: readonly Query[], limits: TimeLimits, deadline: number, signal: AbortSignal) => {
    const limit = limitTime(deadline + clock.aheadMs(), limits);
    const statements = [limit, ...queries, limit].map(prepare);
    const askedAt = now();
    const asked = connect.transaction(statements, { fetchOptions: { signal }, readOnly: readsOnly(queries) });
    const results = (await asked.finally(() => requested(now() - askedAt))) as object[][];
    const [first, last] = [results[0], results.at(-1)] as readonly (TimeRow[] | undefined)[];
    clock.learn(Number(first?.[0]?.at), askedAt, Number(last?.[0]?.at), now());
    return results.slice(1, -1);
  };

  /** Once more, with the database's clock known, where only the difference of the clocks was the reason. */
  const transactInTime: typeof transact = (queries, limits, deadline, signal) =>
    transact(queries, limits, deadline, signal).catch((error: unknown) => {
      const at = error instanceof NeonDbError ? lateAt(error) : undefined;
      if (at === undefined || !clock.learnFromRefusal(at, now())) throw error;
      return transact(queries, limits, deadline, signal);
    });

  const ask = async (queries: readonly Query[], limits: TimeLimits): Promise<object[][]> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), limits.answerMs);
    const deadline = now() + limits.workMs;
    try {
      for (const pauseMs of PAUSES_MS) {
        try {
          return await transactInTime(queries, limits, deadline, abort.signal);
        } catch (error) {
          if (!mayRepeat(error, repeats(queries)) || now() + pauseMs >= deadline) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return await transactInTime(queries, limits, deadline, abort.signal);
    } catch (error) {
      throw toFault(error, readsOnly(queries));
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
