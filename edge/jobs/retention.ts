/** Retention of a site: what its settings say is kept no longer is forgotten, a few rows with each step. */
import * as z from 'zod';

import { inSite } from '../store/in-site.ts';
import { type Forgotten, RETENTION_KIND, retentionStep, sumOf } from '../store/retention.ts';
import { jobKind } from './kind.ts';

/** Of each kind, so that nobody waits for the rows that a step holds. */
export const STEP_ROWS = 200;

const count = z.number().default(0);

/** What a job has forgotten so far stays with it, for as long as jobs are kept. */
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
  step: async ({ database, now, log }, { site, cursor, progress }) => {
    if (site === null) throw new TypeError('retention is of one site');
    // Not among the step's writes, which could not say how many there were: what is forgotten twice is forgotten once, and
    // a runner that dies right here has forgotten one step's rows uncounted.
    const [step] = await inSite(database, site).run(retentionStep(site, now(), cursor.attemptsAfter, STEP_ROWS));
    if (step === undefined) throw new RangeError('retention_step answers with a row');
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
