/**
 * How long whoever asks the database waits for it, and what the database may do in that time (edge/docs/behaviour.md, Limits).
 * The wait is longer than the work: a request that was answered 503 for time has committed nothing and never will.
 */
import type { Database, TimeLimits } from '../deps.ts';

/** Of a request: it is answered within 10 s, whatever the database does. */
export const REQUEST_LIMITS: TimeLimits = { answerMs: 9_500, workMs: 8_000, lockMs: 3_000 };

/** What is left of a request's time after its first round trips: it is answered as soon, however many it has. */
export const limitsAfter = (elapsedMs: number): TimeLimits => {
  const { answerMs, workMs, lockMs } = REQUEST_LIMITS;
  const left = (ms: number): number => Math.max(1, Math.round(ms - elapsedMs));
  return { answerMs: left(answerMs), workMs: left(workMs), lockMs: Math.min(lockMs, left(workMs)) };
};

/** Of a health check: whoever checks gives up soon. */
export const PROBE_LIMITS: TimeLimits = { answerMs: 4_500, workMs: 4_000, lockMs: 3_000 };

/** Of a step of background work, for which nobody waits; well within its lease (jobs/tick.ts). */
export const JOB_LIMITS: TimeLimits = { answerMs: 60_000, workMs: 50_000, lockMs: 3_000 };

/** The same database for a caller with other limits than a request. */
export const withLimits = (database: Database, usual: TimeLimits): Database => ({
  run: (query, limits = usual) => database.run(query, limits),
  batch: (queries, limits = usual) => database.batch(queries, limits),
});
