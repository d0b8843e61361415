/**
 * The database port over a driver, with everything that is the same for all drivers. A transaction begins and ends with a
 * limit of its time, without an extra round trip. After a wrong clock or a temporary failure it is retried within the
 * deadline if it only reads or has not begun. Driver errors become Faults.
 */
import { Fault } from '../../shared/fault.ts';
import type { Log } from '../../shared/log.ts';
import type { Database, Expect, Query, Results, Share, TimeLimits } from '../deps.ts';
import { noMemory } from '../http/memory.ts';
import { createOutage } from '../http/outage.ts';
import { sql } from '../store/sql.ts';
import { faultOfState } from '../store/sqlstate.ts';
import { REQUEST_LIMITS } from '../store/time-limits.ts';
import { createDatabaseClock } from './database-clock.ts';

export interface TransactOptions {
  /** The transaction must not write. */
  readonly readOnly: boolean;
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** Called before so many bytes of the answer are read. If it rejects, the rest is not read. */
  readonly expect: Expect;
}

/** The bytes that a driver reads of an answer of unknown length before it calls `expect`. */
export const UNKNOWN_BYTES = 64 * 1024;

/**
 * The bytes to expect next of an answer of unknown length: few steps, since an answer that waits keeps what was read of it. The
 * second step is about the largest answer.
 */
export const expectedAfter = (read: number): number => 16 * read;

/** The parts of a driver's error. */
export interface Failure {
  /** SQLSTATE; empty if there was no answer, or it was not PostgreSQL's. */
  readonly state: string;
  readonly message: string;
  readonly detail: string | undefined;
}

export interface Driver {
  /**
   * Runs all statements in one round trip and one transaction.
   *
   * @returns the rows of each; store/column-types.ts lists the column types
   */
  readonly transact: (queries: readonly Query[], options: TransactOptions) => Promise<object[][]>;
  /** Undefined for an error that is not the driver's: a bug, or already a Fault. */
  readonly failureOf: (error: unknown) => Failure | undefined;
}

export interface DatabaseOptions {
  /** Milliseconds since the epoch; the machine's clock by default. */
  readonly now?: () => number;
  /** Called after each round trip with its milliseconds. */
  readonly requested?: (ms: number) => void;
  /** Logs the begin and the end of an outage. */
  readonly log?: Log;
  /** The memory of the work that asks. Without it, answers are not limited. */
  readonly share?: () => Share;
}

/** PostgreSQL accepts no connection now (57P03, 53300), or is unreachable (08001, 08004). */
const NOT_BEGUN = new Set(['57P03', '53300', '08001', '08004']);

/** Milliseconds before the second and the third attempt. */
const PAUSES_MS = [100, 500];

/** True if the queries may run again after an unknown result. */
const repeats = (queries: readonly Query[]): boolean =>
  queries.every(({ reads, notes, once }) => reads === true || notes === true || once === true);
const readsOnly = (queries: readonly Query[]): boolean => queries.every(({ reads }) => reads === true);

/** The statement of a standalone request; undefined for other queries. */
function standaloneOf(queries: readonly Query[]): Query | undefined {
  const standalone = queries.find((query) => query.standalone === true);
  if (standalone !== undefined && queries.length > 1)
    throw new TypeError('a standalone request must be alone in its transaction');
  return standalone;
}

interface TimeRow {
  /** The database's clock, milliseconds since the epoch. */
  readonly at: number;
}

interface BeganRow {
  readonly began_at: number;
}

/**
 * The first and last statement of each transaction (migrations/functions/limit_time.sql), so that nothing commits late.
 *
 * @param deadline milliseconds since the epoch, on the database's clock
 */
const limitTime = (deadline: number, { lockMs, workMs }: TimeLimits): Query<TimeRow> =>
  sql<TimeRow>`select limit_time(${deadline}, ${lockMs}, ${workMs}) as at`;

/** The database's clock when it rejected the work because the deadline had passed. */
function lateAt({ state, message }: Failure): number | undefined {
  const at = state === 'GW503' ? /^late (\d+)$/.exec(message)?.[1] : undefined;
  return at === undefined ? undefined : Number(at);
}

/** True if the queries may be sent again: nothing was done, or repeating is harmless. */
function mayRepeat(failure: Failure | undefined, isHarmless: boolean): boolean {
  if (failure === undefined || lateAt(failure) !== undefined) return false;
  const { state } = failure;
  if (NOT_BEGUN.has(state)) return true;
  return isHarmless && (state === '' || /^(?:08|57P0)/.test(state));
}

/** @param saysItReads a write in such a transaction is a bug, even if the database is read-only */
function toFault(error: unknown, failure: Failure | undefined, saysItReads: boolean): unknown {
  if (failure === undefined) return error;
  const { state, message, detail } = failure;
  // Every transaction calls a migrated function, so nothing is served before the migrations.
  const missing =
    state === '42883' ? /\b(?:limit_time|fhir_(?:read|find|write)|hl7_commit)\b/.exec(message)?.[0] : undefined;
  if (missing !== undefined)
    return new Fault('unavailable', `the database lacks the function ${missing}: run npm run migrate`, {
      cause: error,
    });
  if (state === '') return new Fault('unavailable', 'the database cannot be reached', { cause: error });
  if (state === '25006' && saysItReads) return error;
  return faultOfState(state, detail, error) ?? error;
}

const TOO_MANY_CONNECTIONS = '53300';
/** The database answers but does not accept writes: it is a replica after a fail-over, or its disk is full. */
const takesNoWrites = (state: string): boolean =>
  state === '25006' || (state.startsWith('53') && state !== TOO_MANY_CONNECTIONS);
/** The database answers, but this request was too slow or conflicted with another. */
const isOfRequest = (state: string): boolean =>
  /^(?:GW|40|55P03)/.test(state) || ['57014', '25P03', '25P04'].includes(state);

/** Detects from each finished request that the database is unavailable, or does not accept writes. */
function createWatch(log: Log, now: () => number) {
  const availability = createOutage('database', log, now);
  const writes = createOutage('database writes', log, now);
  return {
    answered(queries: readonly Query[]): void {
      availability.answered();
      if (!readsOnly(queries)) writes.answered();
    },
    /** @param fault the answer to the caller @param state SQLSTATE, if any */
    failed(fault: unknown, state: string | undefined): void {
      const isUnavailable = fault instanceof Fault && fault.kind === 'unavailable';
      if (isUnavailable && (state === undefined || !(takesNoWrites(state) || isOfRequest(state)))) {
        availability.failed();
        return;
      }
      availability.answered();
      if (isUnavailable && state !== undefined && takesNoWrites(state)) writes.failed();
    },
  };
}

interface Expectation {
  readonly expect: Expect;
  /** The Fault with which `expect` has rejected. */
  readonly refused: () => Fault | undefined;
}

/** Reserves memory for an answer. The answer of a write does not wait: the write may be committed. */
function expectationOf(
  queries: readonly Query[],
  { answerBytes = Infinity }: TimeLimits,
  share: DatabaseOptions['share'],
  signal: AbortSignal,
): Expectation {
  let refused: Fault | undefined;
  // Now: an event of a socket does not belong to the request.
  const own = share?.();
  const source = queries.find(({ site }) => site !== undefined)?.site ?? '';
  const isOfWrite = queries.some(({ reads, notes }) => reads !== true && notes !== true);
  return {
    async expect(bytes) {
      if (isOfWrite) {
        own?.addAnswer(source, bytes);
        return;
      }
      try {
        if (bytes > answerBytes) throw new Fault('unavailable', 'the answer of the database is too large');
        await own?.reserveAnswer(source, bytes);
        // The time of the request has passed meanwhile.
        if (signal.aborted) throw noMemory();
      } catch (error) {
        if (error instanceof Fault) refused = error;
        throw error;
      }
    },
    refused: () => refused,
  };
}

export function createDatabase(
  { transact, failureOf }: Driver,
  { now = Date.now, requested = () => undefined, log = () => undefined, share }: DatabaseOptions,
): Database {
  const clock = createDatabaseClock();
  const watch = createWatch(log, now);

  const transactLimited = async (
    queries: readonly Query[],
    limits: TimeLimits,
    deadline: number,
    caller: Pick<TransactOptions, 'signal' | 'expect'>,
  ) => {
    const askedAt = now();
    const standalone = standaloneOf(queries);
    if (standalone !== undefined) {
      const { lockMs, workMs } = limits;
      const params = [deadline + clock.aheadMs(), lockMs, workMs, ...standalone.params];
      const asked = transact([{ ...standalone, params }], { readOnly: false, ...caller });
      const results = await asked.finally(() => requested(now() - askedAt));
      const [first] = (results[0] ?? []) as readonly BeganRow[];
      if (first !== undefined) clock.learn(first.began_at, askedAt, first.began_at, now());
      return results;
    }
    const limit = limitTime(deadline + clock.aheadMs(), limits);
    const asked = transact([limit, ...queries, limit], { readOnly: readsOnly(queries), ...caller });
    const results = await asked.finally(() => requested(now() - askedAt));
    // The query's author has declared the type of the rows; this cast is the only one.
    const [first, last] = [results[0], results.at(-1)] as readonly (TimeRow[] | undefined)[];
    clock.learn(Number(first?.[0]?.at), askedAt, Number(last?.[0]?.at), now());
    return results.slice(1, -1);
  };

  /** Retries once with the database's clock if only the difference of the clocks was the reason. */
  const transactInTime: typeof transactLimited = (queries, limits, deadline, caller) =>
    transactLimited(queries, limits, deadline, caller).catch((error: unknown) => {
      const failure = failureOf(error);
      const at = failure && lateAt(failure);
      if (at === undefined || !clock.learnFromRefusal(at, now())) throw error;
      return transactLimited(queries, limits, deadline, caller);
    });

  const answerOf: typeof transactLimited = async (queries, ...within) => {
    const results = await transactInTime(queries, ...within);
    watch.answered(queries);
    return results;
  };

  const ask = async (queries: readonly Query[], limits: TimeLimits): Promise<object[][]> => {
    // The timer of `AbortSignal.timeout` cannot be cleared. It stays for seconds, and costs a read some hundredths of its time.
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), limits.answerMs);
    const deadline = now() + limits.workMs;
    const expectation = expectationOf(queries, limits, share, abort.signal);
    const caller = { signal: abort.signal, expect: expectation.expect };
    try {
      for (const pauseMs of PAUSES_MS) {
        try {
          return await answerOf(queries, limits, deadline, caller);
        } catch (error) {
          if (expectation.refused() !== undefined) throw error;
          if (!mayRepeat(failureOf(error), repeats(queries)) || now() + pauseMs >= deadline) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return await answerOf(queries, limits, deadline, caller);
    } catch (error) {
      const refused = expectation.refused();
      // PostgreSQL has answered, but no memory was free for its answer.
      if (refused !== undefined) {
        watch.answered(queries);
        throw refused;
      }
      const failure = failureOf(error);
      const fault = toFault(error, failure, readsOnly(queries));
      watch.failed(fault, failure?.state);
      throw fault;
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
