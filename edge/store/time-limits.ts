/**
 * The time that a caller waits for the database, and the time that the database may work (edge/docs/behaviour.md,
 * Limits). The wait is longer than the work: a request that was answered 503 for time has committed nothing and never
 * will.
 */
import type { Database, Query, TimeLimits } from '../deps.ts';

/** The limits of a request: it is answered within 10 s, even if the database does not answer. */
export const REQUEST_LIMITS: TimeLimits = { answerMs: 9_500, workMs: 8_000, lockMs: 3_000 };

/**
 * The rest of a request's time after its first round trips, so that the number of round trips does not delay the
 * answer.
 */
export const limitsAfter = (elapsedMs: number): TimeLimits => {
  const { answerMs, workMs, lockMs } = REQUEST_LIMITS;
  const left = (ms: number): number => Math.max(1, Math.round(ms - elapsedMs));
  return { answerMs: left(answerMs), workMs: left(workMs), lockMs: Math.min(lockMs, left(workMs)) };
};

/** The limits of a health check, whose caller gives up soon. */
export const PROBE_LIMITS: TimeLimits = { answerMs: 4_500, workMs: 4_000, lockMs: 3_000 };

/** The limits of what background work reads, for which no caller waits; well within its lease (`edge/jobs/tick.ts`). */
export const JOB_LIMITS: TimeLimits = { answerMs: 60_000, workMs: 50_000, lockMs: 3_000 };
/** The change feeds of all sites wait for the end of each transaction that writes. */
const JOB_WRITE_LIMITS: TimeLimits = { answerMs: 4_000, workMs: 2_000, lockMs: 1_000 };

/** The same database for a caller with other limits than a request. */
export const withLimits = (database: Database, usual: TimeLimits): Database => ({
  run: (query, limits = usual) => database.run(query, limits),
  batch: (queries, limits = usual) => database.batch(queries, limits),
});

/** The database for background work. */
export function forJobs(database: Database): Database {
  const limitsOf = (queries: readonly Query[]): TimeLimits =>
    queries.every(({ reads }) => reads === true) ? JOB_LIMITS : JOB_WRITE_LIMITS;
  return {
    run: (query, limits = limitsOf([query])) => database.run(query, limits),
    batch: (queries, limits = limitsOf(queries)) => database.batch(queries, limits),
  };
}
