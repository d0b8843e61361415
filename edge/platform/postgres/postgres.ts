/**
 * The database over TCP, for any PostgreSQL: a pool of node-postgres connections, which the sites share fairly. A batch or a
 * single statement is one transaction and one round trip (pipeline.ts).
 */
import { readFileSync } from 'node:fs';

import pg from 'pg';

import { createFairQueue } from '../../../shared/fair-queue.ts';
import { Fault } from '../../../shared/fault.ts';
import type { Database, Expect, PoolUse, Query } from '../../deps.ts';
import { read } from '../../store/sql.ts';
import { createDatabase, type DatabaseOptions, type Failure, type TransactOptions } from '../database.ts';
import type { ConnectionString } from './connection-string.ts';
import { createPipeline } from './pipeline.ts';
import { createStatements, type Statements } from './statements.ts';
import { tlsOptions } from './tls.ts';

export interface PostgresOptions extends DatabaseOptions {
  readonly connection: ConnectionString;
  /** The maximum number of connections of this process. */
  readonly connections: number;
  /** True if statements are prepared by name, which an old pooler does not support. */
  readonly prepares: boolean;
}

export interface PostgresDatabase extends Database {
  readonly use: () => PoolUse;
  /** Waits for the answers in progress, then closes the connections. */
  close(): Promise<void>;
}

/** A server that does not accept a connection in this time is unavailable. It also limits the wait for a free connection. */
const CONNECT_MS = 5_000;
/** An idle connection is closed after this time, before a firewall between drops it. */
const IDLE_MS = 30_000;
/** A connection is replaced after this time, to follow DNS changes and to rebalance. */
const LIFETIME_SECONDS = 1_800;
/** The number of a site's requests that may wait for each connection: more could not be answered in time. */
const WAITING_PER_CONNECTION = 64;

/** The pool's error message for this case, which has no code. */
const WAITED_TOO_LONG = 'timeout exceeded when trying to connect';

const tooBusy = (cause?: Error): Fault =>
  new Fault('unavailable', 'all connections to the database are in use: try again', { cause });

/** The source of requests without a site: the token endpoint, probes, the search for an MLLP message's key. */
const NO_SITE = '';

const siteOf = (queries: readonly Query[]): string => queries.find(({ site }) => site !== undefined)?.site ?? NO_SITE;

const READ_ONLY = read`select set_config('transaction_read_only', 'on', true)`;

/** A connection that failed, was lost, or whose answer timed out. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** 08001: nothing has begun; 08006: the result is unknown; '': it took too long. */
  readonly state: '08001' | '08006' | '';

  constructor(state: '08001' | '08006' | '', message: string, options?: ErrorOptions) {
    super(message, options);
    this.state = state;
  }
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ConnectionError) return { state: error.state, message: error.message, detail: undefined };
  if (!(error instanceof pg.DatabaseError)) return undefined;
  return { state: error.code ?? '', message: error.message, detail: error.detail };
}

/**
 * A prepared statement is missing or outdated: another server behind a pooler, `deallocate`, or columns changed by a
 * migration (0A000). Nothing was done, and it succeeds without a name.
 */
const UNPREPARED = new Set(['26000', '42P05', '0A000']);

/** True if the connection is unusable, or leads to a server that no longer accepts writes. */
function isOver(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.severity !== 'ERROR' || error.code === '25006';
  return error instanceof ConnectionError;
}

type Caller = Pick<TransactOptions, 'signal' | 'expect'>;

export function postgresDatabase({ connection, connections, prepares, ...options }: PostgresOptions): PostgresDatabase {
  let waiting = 0;
  const turns = createFairQueue(connections, { inc: () => (waiting += 1), dec: () => (waiting -= 1) });
  const { host, port, user, password, database, applicationName } = connection;
  const pool = new pg.Pool({
    host,
    port,
    user,
    password,
    database,
    application_name: applicationName,
    ssl: tlsOptions(connection, (path) => readFileSync(path, 'utf8')),
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
  });
  const prepared = new WeakMap<pg.PoolClient, Statements>();
  // An idle connection that fails leaves the pool; a used one also reports the error to its user.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    if (prepares) prepared.set(client, createStatements());
  });

  const connect = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (cause) {
      if (cause instanceof pg.DatabaseError) throw cause;
      if (cause instanceof Error && cause.message === WAITED_TOO_LONG) throw tooBusy(cause);
      throw new ConnectionError('08001', 'cannot connect to the database', { cause });
    }
  };

  const send = (client: pg.PoolClient, queries: readonly Query[], expect: Expect, statements: Statements | undefined) =>
    new Promise<object[][]>((done, reject) => {
      const failed = (error: Error): void =>
        reject(
          error instanceof pg.DatabaseError
            ? error
            : new ConnectionError('08006', 'the connection to the database was lost', { cause: error }),
        );
      client.query(createPipeline(queries, { statements, expect, done, failed }));
    });

  const work = async (queries: readonly Query[], { signal, expect }: Caller): Promise<object[][]> => {
    const connecting = connect();
    // A caller that gives up passes the connection to the next.
    const client = await untilAborted(connecting, signal).catch((error: unknown) => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
      throw error;
    });
    let broken = false;
    try {
      return await untilAborted(send(client, queries, expect, prepared.get(client)), signal).catch((error: unknown) => {
        if (!(error instanceof pg.DatabaseError) || !UNPREPARED.has(error.code ?? '')) throw error;
        if (prepares) prepared.set(client, createStatements());
        return untilAborted(send(client, queries, expect, undefined), signal);
      });
    } catch (error) {
      broken = isOver(error);
      throw error;
    } finally {
      client.release(broken);
    }
  };

  /** Waits for the site's share of the connections, so that a busy site delays only itself. */
  const workInTurn = async (queries: readonly Query[], caller: Caller): Promise<object[][]> => {
    const site = siteOf(queries);
    if (turns.waiting(site) >= connections * WAITING_PER_CONNECTION) throw tooBusy();
    const waitsUntil = (): AbortSignal => AbortSignal.any([caller.signal, AbortSignal.timeout(CONNECT_MS)]);
    const results = await turns.run(site, waitsUntil, () => work(queries, caller));
    if (results === undefined) throw tooBusy();
    return results;
  };

  const overTcp = createDatabase(
    {
      async transact(queries, { readOnly, ...caller }) {
        if (!readOnly) return workInTurn(queries, caller);
        return (await workInTurn([READ_ONLY, ...queries], caller)).slice(1);
      },
      failureOf,
    },
    options,
  );
  return {
    ...overTcp,
    use: () => ({ busy: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting }),
    close: () => pool.end(),
  };
}

function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new ConnectionError('', 'the database does not answer'));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
