/** What a kind of background work is: a step that is small, and may be run again. */
import type { z } from 'zod';

import type { Deps, Query } from '../deps.ts';
import type { Progress } from '../store/job.ts';

/** What steps may use. A command that runs jobs itself supplies no more. */
export type JobDeps = Pick<Deps, 'database' | 'now' | 'log'>;

export interface Job<Cursor> {
  readonly id: string;
  /** Null: of the gateway. */
  readonly site: string | null;
  /** Where the last step ended, or what `addJob` was given. */
  readonly cursor: Cursor;
  readonly progress: Progress;
}

/** What a step leaves. */
export interface Step<Cursor> {
  readonly cursor: Cursor;
  readonly progress: Progress;
  /** There is nothing left to do. */
  readonly isDone: boolean;
  /**
   * What the step writes, in one transaction with its cursor: all of it exactly once, or nothing where the step failed,
   * the job was stopped, or another runner has it. What a step does beyond them may happen again.
   */
  readonly writes: readonly Query[];
  /** Until the next step, default none. */
  readonly pauseSeconds?: number;
}

export interface JobKind {
  readonly kind: string;
  readonly step: (deps: JobDeps, job: Job<unknown>) => Promise<Step<object>>;
}

/**
 * A row of edge/job-kinds.ts.
 *
 * @param definition `cursor` reads what was stored, also what the release before stored. `step` should take a second or
 * so; it reads by itself, and what it read may have changed when its writes are done, so they must look again (a version,
 * a lock). What it throws is tried again later; its message goes nowhere, its code or SQLSTATE is kept.
 */
export function jobKind<Cursor extends object>(definition: {
  readonly kind: string;
  readonly cursor: z.ZodType<Cursor>;
  readonly step: (deps: JobDeps, job: Job<Cursor>) => Promise<Step<Cursor>>;
}): JobKind {
  const { kind, cursor, step } = definition;
  return { kind, step: (deps, job) => step(deps, { ...job, cursor: cursor.parse(job.cursor) }) };
}
