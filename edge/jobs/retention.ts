/** Deletes a site's data that is older than its settings allow, a few rows with each step. */
import * as z from 'zod';

import { inSite } from '../store/in-site.ts';
import { type Forgotten, RETENTION_KIND, retentionStep, sumOf } from '../store/retention.ts';
import { jobKind, rowsOfAttempt } from './kind.ts';

/** Rows of each kind per step, so that other statements do not wait long for locked rows. */
export const STEP_ROWS = 200;

const count = z.number().default(0);

/** The numbers of deleted rows stay in the job as long as jobs are stored. */
export const retentionCursor = z.object({
  attemptsAfter: z.string().nullable().default(null),
  messages: count,
  attempts: count,
  refusals: count,
  usage: count,
  audit: count,
});

const plus = (a: Forgotten, b: Forgotten): Forgotten => ({
  messages: a.messages + b.messages,
  attempts: a.attempts + b.attempts,
  refusals: a.refusals + b.refusals,
  usage: a.usage + b.usage,
  audit: a.audit + b.audit,
});

export const RETENTION = jobKind({
  kind: RETENTION_KIND,
  cursor: retentionCursor,
  step: async ({ database, now, log }, job) => {
    const { site, cursor, progress } = job;
    if (site === null) throw new TypeError('a retention job must have a site');
    // Not among the step's writes, which could not return the numbers. Deleting again is harmless; if the runner ends right
    // here, one step's rows are missing from the numbers.
    const [step] = await inSite(database, site).run(
      retentionStep(site, now(), cursor.attemptsAfter, rowsOfAttempt(STEP_ROWS, job)),
    );
    if (step === undefined) throw new RangeError('retention_step must return one row');
    const forgotten = plus(cursor, step);
    const done = sumOf(forgotten);
    if (step.is_done) log({ level: 'info', event: 'retention.done', site, counts: forgotten });
    return {
      cursor: { attemptsAfter: step.attempts_after, ...forgotten },
      progress: { done, total: step.is_done ? done : progress.total },
      isDone: step.is_done,
      writes: [],
    };
  },
});
