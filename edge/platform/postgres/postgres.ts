/**
 * The database over TCP, for any PostgreSQL: a pool of connections of node-postgres, which sites take in turns. A batch is one
 * transaction and one round trip, and so is a single statement (pipeline.ts).
 */
import { readFileSync } from 'node:fs';

import pg from 'pg';

import { createFairQueue } from '../../../shared/fair-queue.ts';
import { Fault } from '../../../shared/fault.ts';
import type { Database, Query } from '../../deps.ts';
import { read } from '../../store/sql.ts';
import { createDatabase, type DatabaseOptions, type Failure } from '../database.ts';
import type { ConnectionString } from './connection-string.ts';
import { createPipeline } from './pipeline.ts';
import { createStatements, type Statements } from './statements.ts';
import { tlsOptions } from './tls.ts';

export interface PostgresOptions extends DatabaseOptions {
  readonly connection: ConnectionString;
  /** Connections at most, of this process. */
  readonly connections: number;
  /** Whether statements are prepared by a name, which an old pooler between cannot keep apart. */
  readonly prepares: boolean;
}

export interface PostgresDatabase extends Database {
  /** Waits until what is asked is answered, and says good-bye. */
  close(): Promise<void>;
}

/** A server that does not answer to a new connection is away. Whoever waits for a connection waits no longer either. */
const CONNECT_MS = 5_000;
/** A connection that nobody used so long is closed: somebody in between may have forgotten it. */
const IDLE_MS = 30_000;
/** Then it is made anew, so that a name that leads elsewhere is followed, and a balancer shares anew. */
const LIFETIME_SECONDS = 1_800;
/** How many of a site may wait for each connection: more cannot be answered in time either. */
const WAITING_PER_CONNECTION = 64;

/** What the pool says then, in no other words. */
const WAITED_TOO_LONG = 'timeout exceeded when trying to connect';

const taken = (cause?: Error): Fault =>
  new Fault('unavailable', 'all connections to the database are taken', { cause });

/** What is asked before a site is known: by the token endpoint, by probes, by whom an MLLP message may be of. */
const NO_SITE = '';

const siteOf = (queries: readonly Query[]): string => queries.find(({ site }) => site !== undefined)?.site ?? NO_SITE;

const READ_ONLY = read`select set_config('transaction_read_only', 'on', true)`;

/** A connection that could not be made, was lost, or whose answer nobody waited for. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** 08001: nothing of it began; 08006: nobody knows; '': it took too long. */
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
 * What was prepared is not there any more, or no more what it was: another server behind a pooler, `deallocate`, columns that
 * a migration changed (0A000). Nothing was done, and without a name it succeeds.
 */
const UNPREPARED = new Set(['26000', '42P05', '0A000']);

/** The connection itself is of no more use, or leads to a server that is no more the one that writes. */
function isOver(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.severity !== 'ERROR' || error.code === '25006';
  return error instanceof ConnectionError;
}

export function postgresDatabase({ connection, connections, prepares, ...options }: PostgresOptions): PostgresDatabase {
  const turns = createFairQueue(connections);
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
  // One that breaks while nobody uses it leaves the pool; one that breaks in use also tells who uses it.
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
      if (cause instanceof Error && cause.message === WAITED_TOO_LONG) throw taken(cause);
      throw new ConnectionError('08001', 'no connection to the database can be made', { cause });
    }
  };

  const send = (client: pg.PoolClient, queries: readonly Query[], statements: Statements | undefined) =>
    new Promise<object[][]>((done, reject) => {
      const failed = (error: Error): void =>
        reject(
          error instanceof pg.DatabaseError
            ? error
            : new ConnectionError('08006', 'the connection to the database was lost', { cause: error }),
        );
      client.query(createPipeline(queries, { statements, done, failed }));
    });

  const work = async (queries: readonly Query[], signal: AbortSignal): Promise<object[][]> => {
    const connecting = connect();
    // Who gives up while waiting leaves the connection to the next.
    const client = await untilAborted(connecting, signal).catch((error: unknown) => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
      throw error;
    });
    let broken = false;
    try {
      return await untilAborted(send(client, queries, prepared.get(client)), signal).catch((error: unknown) => {
        if (!(error instanceof pg.DatabaseError) || !UNPREPARED.has(error.code ?? '')) throw error;
        if (prepares) prepared.set(client, createStatements());
        return untilAborted(send(client, queries, undefined), signal);
      });
    } catch (error) {
      broken = isOver(error);
      throw error;
    } finally {
      client.release(broken);
    }
  };

  /** Works when it is the site's turn: one that asks much waits for itself, not others for it. */
  const workInTurn = async (queries: readonly Query[], signal: AbortSignal): Promise<object[][]> => {
    const site = siteOf(queries);
    if (turns.waiting(site) >= connections * WAITING_PER_CONNECTION) throw taken();
    const waitsUntil = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
    const results = await turns.run(site, waitsUntil, () => work(queries, signal));
    if (results === undefined) throw taken();
    return results;
  };

  const overTcp = createDatabase(
    {
      async transact(queries, { readOnly, signal }) {
        if (!readOnly) return workInTurn(queries, signal);
        return (await workInTurn([READ_ONLY, ...queries], signal)).slice(1);
      },
      failureOf,
    },
    options,
  );
  return { ...overTcp, close: () => pool.end() };
}

function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new ConnectionError('', 'the database does not answer'));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
