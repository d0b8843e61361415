/**
 * The dependencies that a runtime must supply. Each platform file makes `Deps` from its environment; all other code is
 * independent of the runtime, the clock and the environment.
 */
import type { Log } from '../shared/log.ts';
import type { Span } from '../shared/trace-context.ts';
import type { Config } from './config.ts';

/** A parameter as the driver sends it; the query's author prints arrays and JSON. */
export type Param = string | number | boolean | null | Uint8Array | readonly string[];

/** SQL as a value. `Row` types the returned columns; text, uuid, json and timestamps are strings. */
export interface Query<Row extends object = object> {
  readonly text: string;
  readonly params: readonly Param[];
  /** A query that only reads, so it may be retried. PostgreSQL enforces it with a read-only transaction. */
  readonly reads?: true;
  /** The best plan depends on the parameters, so the statement is not prepared. */
  readonly planAnew?: true;
  /** A query that only records an access; a retry may record it twice, which is harmless. */
  readonly notes?: true;
  /** A write that has no effect when repeated, so it may be retried. */
  readonly once?: true;
  /**
   * A complete request in one statement, which begins and ends its transaction (migrations/functions/request_begin.sql). The
   * port prepends three parameters that limit its time, and its rows contain the database's clock in `began_at`.
   */
  readonly standalone?: true;
  /**
   * The site of the transaction, on the statement that enters the site. Sites share the connections fairly
   * (platform/postgres); requests without a site, such as a token's, share them as one source.
   */
  readonly site?: string;
  /** Carries the row's type only, never a value. */
  readonly row?: Row;
}

type RowOf<Q> = Q extends Query<infer Row> ? Row : never;
export type Results<Queries extends readonly Query[]> = { -readonly [I in keyof Queries]: RowOf<Queries[I]>[] };

/** The limits of a round trip: times in milliseconds. */
export interface TimeLimits {
  /** After this time the caller gets `unavailable`. */
  readonly answerMs: number;
  /** For all statements together; less than `answerMs`, so that nothing commits after the answer. */
  readonly workMs: number;
  /** The longest wait of a statement for a lock. */
  readonly lockMs: number;
  /** The caller gets `unavailable` for a larger answer, before all of it is in memory. */
  readonly answerBytes?: number;
}

/**
 * One `run` or `batch` is one round trip. The limits of a request (store/time-limits.ts) apply unless others are given.
 * Background jobs have longer limits, and a command's connection (platform/node) has none.
 */
export interface Database {
  run<Row extends object>(query: Query<Row>, limits?: TimeLimits): Promise<Row[]>;
  /** One transaction: all statements or none. */
  batch<const Queries extends readonly Query[]>(queries: Queries, limits?: TimeLimits): Promise<Results<Queries>>;
}

/** The database use of a piece of work: completed HTTP requests, and their milliseconds in total. */
interface DatabaseUse {
  readonly requests: number;
  readonly ms: number;
}

export interface Measured<T> {
  readonly result: T;
  readonly database: DatabaseUse;
}

/** Waits until so many bytes may be read. @throws Fault `unavailable` after a wait */
export type Expect = (bytes: number) => Promise<void>;

/** Memory that is held until a client has read its answer. */
export interface Kept {
  release(): void;
}

/** A request's part of the memory for large requests (http/memory.ts). */
export interface Share {
  /**
   * Reads a body. Few large ones are read at once.
   *
   * @param source a site, or the address of a sender
   * @throws Fault `unavailable` after a wait
   */
  read<T>(source: string, read: (expect: Expect) => Promise<T>): Promise<T>;
  /**
   * Waits until so much memory is free, unless the request has as much already.
   *
   * @throws Fault `unavailable` after a wait
   */
  reserve(source: string, bytes: number): Promise<void>;
  /** The memory for so many bytes of the database. @throws as `reserve` */
  reserveAnswer(source: string, bytes: number): Promise<void>;
  /** The same without a wait: the answer of a write must not be lost. */
  addAnswer(source: string, bytes: number): void;
  /** Keeps so many bytes after the end, for a body that the client reads; undefined if nothing is reserved. */
  keep(bytes: number): Kept | undefined;
  /** The request is answered. */
  end(): void;
}

/** Single use of a client assertion's `jti` (RFC 7523 §3 rule 7). */
export interface JtiStore {
  /**
   * Claims a `jti` for a client atomically.
   *
   * @param jtiHash SHA-256 of the jti, base64url
   * @param expires seconds since the epoch after which the claim may be deleted
   * @param attempt nonce of this claim: a retry with the same nonce is not a replay
   * @returns true for the first claim, otherwise false
   * @throws Fault `unavailable` if the store is unreachable
   */
  claim(clientId: string, jtiHash: string, expires: number, attempt: string): Promise<boolean>;
}

/** The use of resources by this process, for /metrics. */
export interface ProcessUse {
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Seconds since the start, in total. */
  readonly loopDelay: number;
  /** Undefined without a pool of connections. */
  readonly pool?: PoolUse | undefined;
}

export interface PoolUse {
  /** Connections in use. */
  readonly busy: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

export type RateLimitBucket = 'token-client' | 'token-address' | 'admin-address' | 'key';

export interface RateLimiter {
  /** True if the caller is within its limit. The window is 60 s. */
  allow(bucket: RateLimitBucket, key: string): Promise<boolean>;
}

/** Compresses answers and inflates bodies (RFC 1952). */
export interface Gzip {
  compress(text: string): Uint8Array<ArrayBuffer>;
  /** Sends each chunk as soon as it arrives. */
  compressStream(content: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
  /** @throws Fault `too-large` as soon as the content exceeds `maxBytes`; `malformed` */
  inflate(bytes: Uint8Array, maxBytes: number): Uint8Array;
  /** The content of the first bytes of a body; empty if they are not gzip. */
  inflateStart(bytes: Uint8Array): Uint8Array;
}

export interface Deps {
  readonly config: Config;
  readonly database: Database;
  /** Measures the database use of one piece of work, separately from concurrent work. Its share of the memory ends with it. */
  readonly measured: <T>(work: () => Promise<T>) => Promise<Measured<T>>;
  /** The share of the measured piece of work that asks for it. */
  readonly share: () => Share;
  readonly jtiStore: JtiStore;
  readonly rateLimiter: RateLimiter;
  /** The deployed version, if the platform reports it. */
  readonly version?: string | undefined;
  /** Absent if the runtime cannot measure it. */
  readonly processUse?: () => ProcessUse;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Keeps the runtime alive until the background work is done. */
  readonly background: (work: Promise<unknown>) => void;
  /** Serves the change feed of a site soon. Called after a commit that made versions, with FHIR_SUBSCRIPTIONS=on only. */
  readonly wake?: ((site: string) => void) | undefined;
  /** Aborted when the program must end: collected data is then written immediately. */
  readonly ending?: AbortSignal | undefined;
  readonly log: Log;
  /** The span that the platform records for the current request, if it exports spans. */
  readonly exportedSpan?: () => Span | undefined;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** All addresses of a host name, for the check that a JWKS URI is not internal. */
  readonly resolveHost: (hostname: string) => Promise<readonly string[]>;
  /** Fetches from the addresses of `resolveHost`, if the runtime supports it; redirects are not followed. */
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
  /** A static file by its name in `dist/assets`; 404 if it does not exist. */
  readonly asset: (path: string) => Promise<Response>;
  readonly gzip: Gzip;
  /** `Accept-Encoding` as the client sent it. */
  readonly acceptEncoding: (request: Request) => string | null;
  /** The peer's address as the platform reports it (never a header that a client can set), or `unknown`. */
  readonly sourceAddress: (request: Request) => string;
}
