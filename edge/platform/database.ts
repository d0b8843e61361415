/**
 * The database port over a driver. What every driver's answers have alike is here: a transaction begins and ends with a limit
 * of its time, which costs no round trip; what a wrong clock refused is asked again, and so is, within the same deadline,
 * what failed for a moment (a database that wakes up, a pooler that starts anew): a transaction that reads only, or one that
 * has not begun. Errors of the driver become Faults.
 */
import { Fault } from '../../shared/fault.ts';
import type { Log } from '../../shared/log.ts';
import type { Database, Query, Results, TimeLimits } from '../deps.ts';
import { createOutage } from '../http/outage.ts';
import { sql } from '../store/sql.ts';
import { faultOfState } from '../store/sqlstate.ts';
import { REQUEST_LIMITS } from '../store/time-limits.ts';
import { createDatabaseClock } from './database-clock.ts';

export interface TransactOptions {
  /** The transaction may write nothing. */
  readonly readOnly: boolean;
  /** Nobody waits any more: the answer need not come. */
  readonly signal: AbortSignal;
}

/** What an error of a driver says. */
export interface Failure {
  /** SQLSTATE; empty where PostgreSQL did not say anything: the answer did not come, or is not PostgreSQL's. */
  readonly state: string;
  readonly message: string;
  readonly detail: string | undefined;
}

export interface Driver {
  /**
   * All statements in one round trip and one transaction.
   *
   * @returns the rows of each; column types as store/column-types.ts says
   */
  readonly transact: (queries: readonly Query[], options: TransactOptions) => Promise<object[][]>;
  /** Undefined: no error of the driver, but a bug of ours, or a Fault already. */
  readonly failureOf: (error: unknown) => Failure | undefined;
}

export interface DatabaseOptions {
  /** Milliseconds since the epoch; default the machine's clock. */
  readonly now?: () => number;
  /** Told of each round trip that has ended, and how many milliseconds it took. */
  readonly requested?: (ms: number) => void;
  /** Told when the database is away, and when it is back. */
  readonly log?: Log;
}

/** PostgreSQL lets nobody in at this moment (57P03, 53300), or no way was found to it (08001, 08004). */
const NOT_BEGUN = new Set(['57P03', '53300', '08001', '08004']);

/** Pauses before the second and the third attempt, in milliseconds. */
const PAUSES_MS = [100, 500];

/** Whether all of it may be asked again, whatever became of it. */
const repeats = (queries: readonly Query[]): boolean =>
  queries.every(({ reads, notes, once }) => reads === true || notes === true || once === true);
const readsOnly = (queries: readonly Query[]): boolean => queries.every(({ reads }) => reads === true);

/** The statement that is a request of its own; undefined where the queries are none. */
function standaloneOf(queries: readonly Query[]): Query | undefined {
  const standalone = queries.find((query) => query.standalone === true);
  if (standalone !== undefined && queries.length > 1)
    throw new TypeError('a request of its own is alone in its transaction');
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
 * First and last statement of each transaction (migrations/functions/limit_time.sql), so that nothing commits past its time.
 *
 * @param deadline milliseconds since the epoch, by the database's clock
 */
const limitTime = (deadline: number, { lockMs, workMs }: TimeLimits): Query<TimeRow> =>
  sql<TimeRow>`select limit_time(${deadline}, ${lockMs}, ${workMs}) as at`;

/** The database's clock, where it refused to work on because the deadline had passed. */
function lateAt({ state, message }: Failure): number | undefined {
  const at = state === 'GW503' ? /^late (\d+)$/.exec(message)?.[1] : undefined;
  return at === undefined ? undefined : Number(at);
}

/** Whether the same may be asked again: nothing of it was done, or there was nothing to do. */
function mayRepeat(failure: Failure | undefined, isHarmless: boolean): boolean {
  if (failure === undefined || lateAt(failure) !== undefined) return false;
  const { state } = failure;
  if (NOT_BEGUN.has(state)) return true;
  return isHarmless && (state === '' || /^(?:08|57P0)/.test(state));
}

/** @param saysItReads what then writes is a bug of ours, whatever the database is like */
function toFault(error: unknown, failure: Failure | undefined, saysItReads: boolean): unknown {
  if (failure === undefined) return error;
  const { state, message, detail } = failure;
  // Every transaction asks for one of them: migrations go first, and until they have, nothing is served.
  const missing =
    state === '42883' ? /\b(?:limit_time|fhir_(?:read|find|write)|hl7_commit)\b/.exec(message)?.[0] : undefined;
  if (missing !== undefined)
    return new Fault('unavailable', `the database does not have the function ${missing}`, { cause: error });
  if (state === '') return new Fault('unavailable', 'the database cannot be reached', { cause: error });
  if (state === '25006' && saysItReads) return error;
  return faultOfState(state, detail, error) ?? error;
}

const TOO_MANY_CONNECTIONS = '53300';
/** It answers and takes no writes: a fail-over to a replica, or no room. */
const takesNoWrites = (state: string): boolean =>
  state === '25006' || (state.startsWith('53') && state !== TOO_MANY_CONNECTIONS);
/** It answers, and this one request was too slow, or in the way of another. */
const isOfRequest = (state: string): boolean =>
  /^(?:GW|40|55P03)/.test(state) || ['57014', '25P03', '25P04'].includes(state);

/** Judges by each request that has ended whether the database is away, or takes no writes. */
function createWatch(log: Log, now: () => number) {
  const whole = createOutage('database', log, now);
  const writes = createOutage('database writes', log, now);
  return {
    answered(queries: readonly Query[]): void {
      whole.answered();
      if (!readsOnly(queries)) writes.answered();
    },
    /** @param fault what the caller is told @param state SQLSTATE, where there is one */
    failed(fault: unknown, state: string | undefined): void {
      const isUnavailable = fault instanceof Fault && fault.kind === 'unavailable';
      if (isUnavailable && (state === undefined || !(takesNoWrites(state) || isOfRequest(state)))) {
        whole.failed();
        return;
      }
      whole.answered();
      if (isUnavailable && state !== undefined && takesNoWrites(state)) writes.failed();
    },
  };
}

export function createDatabase(
  { transact, failureOf }: Driver,
  { now = Date.now, requested = () => undefined, log = () => undefined }: DatabaseOptions,
): Database {
  const clock = createDatabaseClock();
  const watch = createWatch(log, now);

  const transactLimited = async (
    queries: readonly Query[],
    limits: TimeLimits,
    deadline: number,
    signal: AbortSignal,
  ) => {
    const askedAt = now();
    const standalone = standaloneOf(queries);
    if (standalone !== undefined) {
      const { lockMs, workMs } = limits;
      const params = [deadline + clock.aheadMs(), lockMs, workMs, ...standalone.params];
      const asked = transact([{ ...standalone, params }], { readOnly: false, signal });
      const results = await asked.finally(() => requested(now() - askedAt));
      const [first] = (results[0] ?? []) as readonly BeganRow[];
      if (first !== undefined) clock.learn(first.began_at, askedAt, first.began_at, now());
      return results;
    }
    const limit = limitTime(deadline + clock.aheadMs(), limits);
    const asked = transact([limit, ...queries, limit], { readOnly: readsOnly(queries), signal });
    const results = await asked.finally(() => requested(now() - askedAt));
    // Rows are what the query's author declared them to be: this is the door.
    const [first, last] = [results[0], results.at(-1)] as readonly (TimeRow[] | undefined)[];
    clock.learn(Number(first?.[0]?.at), askedAt, Number(last?.[0]?.at), now());
    return results.slice(1, -1);
  };

  /** Once more, with the database's clock known, where only the difference of the clocks was the reason. */
  const transactInTime: typeof transactLimited = (queries, limits, deadline, signal) =>
    transactLimited(queries, limits, deadline, signal).catch((error: unknown) => {
      const failure = failureOf(error);
      const at = failure && lateAt(failure);
      if (at === undefined || !clock.learnFromRefusal(at, now())) throw error;
      return transactLimited(queries, limits, deadline, signal);
    });

  const answerOf: typeof transactLimited = async (queries, ...within) => {
    const results = await transactInTime(queries, ...within);
    watch.answered(queries);
    return results;
  };

  const ask = async (queries: readonly Query[], limits: TimeLimits): Promise<object[][]> => {
    const signal = AbortSignal.timeout(limits.answerMs);
    const deadline = now() + limits.workMs;
    try {
      for (const pauseMs of PAUSES_MS) {
        try {
          return await answerOf(queries, limits, deadline, signal);
        } catch (error) {
          if (!mayRepeat(failureOf(error), repeats(queries)) || now() + pauseMs >= deadline) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return await answerOf(queries, limits, deadline, signal);
    } catch (error) {
      const failure = failureOf(error);
      const fault = toFault(error, failure, readsOnly(queries));
      watch.failed(fault, failure?.state);
      throw fault;
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
