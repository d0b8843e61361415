/**
 * What a runtime must supply. Each platform file turns its environment into `Deps`; nothing else knows a runtime, reads
 * a clock or an environment variable.
 */
import type { Log } from '../shared/log.ts';
import type { Span } from '../shared/trace-context.ts';
import type { Config } from './config.ts';

/** A parameter as the driver sends it: arrays and JSON are printed by whoever builds the query. */
export type Param = string | number | boolean | null | Uint8Array | readonly string[];

/** SQL as a value. `Row` names the columns that come back; text, uuid, json and timestamps arrive as strings. */
export interface Query<Row extends object = object> {
  readonly text: string;
  readonly params: readonly Param[];
  /** It only reads, and may be asked again when an answer failed to come. The database is told so, and holds it to that. */
  readonly reads?: true;
  /** Which plan is good depends on its values: none is kept for it. */
  readonly planAnew?: true;
  /** It only notes that something was read: asked again it notes that twice, which is true. */
  readonly notes?: true;
  /** It writes, but asked again it does not do so twice: it knows what it was asked before. */
  readonly once?: true;
  /**
   * It is a request of its own, alone in its transaction, which it begins and ends itself (migrations/functions/request_begin.sql):
   * the port puts three parameters before those here, which limit its time. Its rows say in `began_at` what the database's
   * clock was.
   */
  readonly standalone?: true;
  /**
   * The site that its transaction is for, on the statement that enters the site. Sites take turns where connections are few
   * (platform/postgres); what has no site, as a token's request, takes turns with them as one.
   */
  readonly site?: string;
  /** Phantom: carries the row's type, never a value. */
  readonly row?: Row;
}

type RowOf<Q> = Q extends Query<infer Row> ? Row : never;
export type Results<Queries extends readonly Query[]> = { -readonly [I in keyof Queries]: RowOf<Queries[I]>[] };

/** What a round trip may take, in milliseconds. */
export interface TimeLimits {
  /** The asker waits so long and is then told `unavailable`. */
  readonly answerMs: number;
  /** The work may take so long, all statements together; less than the asker waits, so that nothing commits later. */
  readonly workMs: number;
  /** A statement waits so long for a lock. */
  readonly lockMs: number;
}

/**
 * A request is one `run` or one `batch`: one round trip, within the limits of a request (store/time-limits.ts) where no
 * others are given. Background work has longer ones, and a command's own connection (platform/node) none.
 */
export interface Database {
  run<Row extends object>(query: Query<Row>, limits?: TimeLimits): Promise<Row[]>;
  /** One transaction: all statements or none. */
  batch<const Queries extends readonly Query[]>(queries: Queries, limits?: TimeLimits): Promise<Results<Queries>>;
}

/** What a piece of work asked of the database: HTTP requests that have ended, and their milliseconds together. */
export interface DatabaseUse {
  readonly requests: number;
  readonly ms: number;
}

export interface Measured<T> {
  readonly result: T;
  readonly database: DatabaseUse;
}

/** Single use of a client assertion's `jti` (RFC 7523 §3 rule 7). */
export interface JtiStore {
  /**
   * Claims a `jti` for a client; atomic.
   *
   * @param jtiHash SHA-256 of the jti, base64url
   * @param expires seconds since the epoch after which the claim may be forgotten
   * @param attempt nonce of this claim: the same claim retried by our own code is no replay
   * @returns true the first time, false ever after
   * @throws Fault `unavailable` when the store cannot be reached
   */
  claim(clientId: string, jtiHash: string, expires: number, attempt: string): Promise<boolean>;
}

export type RateLimitBucket = 'token-client' | 'token-address' | 'admin-address' | 'key';

export interface RateLimiter {
  /** True when the caller is within its limit. The window is 60 s. */
  allow(bucket: RateLimitBucket, key: string): Promise<boolean>;
}

export interface Deps {
  readonly config: Config;
  readonly database: Database;
  /** Does a piece of work and tells what it asked of the database, beside all other work. */
  readonly measured: <T>(work: () => Promise<T>) => Promise<Measured<T>>;
  readonly jtiStore: JtiStore;
  readonly rateLimiter: RateLimiter;
  /** Which deployed version this is, where the platform tells. */
  readonly version?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Keeps the runtime alive until the work is done, off the response path. */
  readonly background: (work: Promise<unknown>) => void;
  /** Aborted when the program is told to end: what waits for its time to be written is written now. */
  readonly ending?: AbortSignal | undefined;
  readonly log: Log;
  /** The span that the platform records of the request that is being answered, where it exports any. */
  readonly exportedSpan?: () => Span | undefined;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** All addresses a host name resolves to, for the check that a JWKS URI does not lead inside. */
  readonly resolveHost: (hostname: string) => Promise<readonly string[]>;
  /** A request at addresses that `resolveHost` gave, where the runtime can be told where to connect; redirects are not followed. */
  readonly fetchAt?: (
    addresses: readonly string[],
    url: string,
    init: {
      readonly method: 'GET' | 'POST';
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly signal: AbortSignal;
    },
  ) => Promise<Response>;
  /** A static file of ours by its name in `dist/assets`; 404 where there is none. */
  readonly asset: (path: string) => Promise<Response>;
  /** The peer's address as the platform knows it (never a header that a client can set), or `unknown`. */
  readonly sourceAddress: (request: Request) => string;
}
