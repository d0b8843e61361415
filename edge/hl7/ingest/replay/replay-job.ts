/** The job that replays many stored messages in their order of receipt, a few in each step. Newer data stays. */
import * as z from 'zod';

import type { AuditBy } from '../../../store/audit.ts';
import { jobKind, type JobKind } from '../../../jobs/kind.ts';
import { inSite } from '../../../store/in-site.ts';
import { nextSelected, REPLAY_KIND } from '../../../store/hl7-replay.ts';
import { NAME_KINDS } from '../../../store/unmapped-name.ts';
import type { IngestDeps } from '../ingest.ts';
import { reprocess } from './replay.ts';

/** A step takes about a second; stopping the job waits for one step. */
const STEP_MESSAGES = 10;

const cursor = z.object({
  filter: z.object({
    outcome: z.enum(['', 'AA', 'AE', 'AR', 'errors']),
    type: z.string().default(''),
    reason: z.string(),
    clientId: z.string(),
    from: z.string(),
    to: z.string(),
    unmapped: z.object({ kind: z.enum(NAME_KINDS), name: z.string() }).nullable(),
  }),
  actor: z.string(),
  comment: z.string(),
  /** The provider's `sub` of the person who started the replay. */
  subject: z.string(),
  after: z.uuid(),
  last: z.uuid(),
});

const personOf = ({ subject }: z.infer<typeof cursor>): AuditBy => ({ kind: 'person', name: subject, address: null });

export const replayMany = ({ config, share }: Pick<IngestDeps, 'config' | 'share'>): JobKind =>
  jobKind({
    kind: REPLAY_KIND,
    cursor,
    step: async (deps, { id, site, cursor: at, progress }) => {
      if (site === null) throw new TypeError('a replay is of one site');
      const rows = await inSite(deps.database, site).run(nextSelected(site, at, STEP_MESSAGES));
      for (const { message_id: messageId } of rows) {
        const attempt = { why: 'replayed', actor: at.actor, comment: at.comment, jobId: id, by: personOf(at) } as const;
        // A repeated step finds its earlier attempts.
        await reprocess({ ...deps, config, share }, site, messageId, attempt, `replay-${id}`);
      }
      const done = progress.done + rows.length;
      const isDone = rows.length < STEP_MESSAGES;
      return {
        cursor: { ...at, after: rows.at(-1)?.message_id ?? at.after },
        // Some messages have another outcome now than at the count.
        progress: { done, total: isDone ? done : Math.max(progress.total ?? 0, done) },
        isDone,
        writes: [],
      };
    },
  });
