/** The interface of a kind of background job: small steps that can run again. */
import type { z } from 'zod';

import type { Deps, Query } from '../deps.ts';
import type { Progress } from '../store/job.ts';

/** The dependencies of a step. Commands that run jobs supply the same. */
export type JobDeps = Pick<Deps, 'database' | 'now' | 'log'>;

export interface Job<Cursor> {
  readonly id: string;
  /** Null for a job of the gateway. */
  readonly site: string | null;
  /** The position after the last step, or the argument of `addJob`. */
  readonly cursor: Cursor;
  readonly progress: Progress;
  /** The attempts of this step, including this one. */
  readonly attempts: number;
}

/**
 * The rows of a step that may have been cut off for its time (edge/store/time-limits.ts): a quarter of them with each attempt.
 *
 * @param usual so few that they need a fraction of the time
 */
export const rowsOfAttempt = (usual: number, { attempts }: Pick<Job<unknown>, 'attempts'>): number =>
  Math.max(1, Math.floor(usual / 4 ** (attempts - 1)));

/** The result of a step. */
export interface Step<Cursor> {
  readonly cursor: Cursor;
  readonly progress: Progress;
  /** True if the job has no further steps. */
  readonly isDone: boolean;
  /**
   * Written exactly once, in one transaction with the cursor. Nothing is written if the step failed, the job was stopped,
   * or another runner has its lease. Any other effect of a step may happen again.
   */
  readonly writes: readonly Query[];
  /** Before the next step; none by default. */
  readonly pauseSeconds?: number;
}

export interface JobKind {
  readonly kind: string;
  readonly step: (deps: JobDeps, job: Job<unknown>) => Promise<Step<object>>;
}

/**
 * Defines a row of edge/job-kinds.ts.
 *
 * @param definition `cursor` parses the stored position, also in the format of the previous release. `step` should take
 * about a second. Data that it reads may have changed when its writes run, so they must check again (a version, a lock).
 * An exception is retried later; only its code or SQLSTATE is stored.
 */
export function jobKind<Cursor extends object>(definition: {
  readonly kind: string;
  readonly cursor: z.ZodType<Cursor>;
  readonly step: (deps: JobDeps, job: Job<Cursor>) => Promise<Step<Cursor>>;
}): JobKind {
  const { kind, cursor, step } = definition;
  return { kind, step: (deps, job) => step(deps, { ...job, cursor: cursor.parse(job.cursor) }) };
}
