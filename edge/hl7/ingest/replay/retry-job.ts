/** The job that retries messages which the gateway failed to process (`gateway-failed`), a few times over the next hours. */
import * as z from 'zod';

import { jobKind, type JobKind } from '../../../jobs/kind.ts';
import { inSite } from '../../../store/in-site.ts';
import { addRetryIfWaiting, dueForRetry, isAnyWaiting, RETRY_KIND } from '../../../store/hl7-replay.ts';
import type { IngestDeps } from '../ingest.ts';
import { reprocess } from './replay.ts';

const STEP_MESSAGES = 10;
/** The longest delay of a retry. */
const PAUSE_SECONDS = 300;

const GATEWAY = { kind: 'gateway', name: null, address: null } as const;

export const retryFailed = ({ config, share }: Pick<IngestDeps, 'config' | 'share'>): JobKind =>
  jobKind({
    kind: RETRY_KIND,
    cursor: z.object({}),
    step: async (deps, { id, site, progress }) => {
      if (site === null) throw new TypeError('messages are of one site');
      const rows = await inSite(deps.database, site).run(dueForRetry(site, STEP_MESSAGES));
      for (const { message_id: messageId } of rows) {
        const attempt = { why: 'retried', actor: null, jobId: null, by: GATEWAY } as const;
        await reprocess({ ...deps, config, share }, site, messageId, attempt, `retry-${id}`);
      }
      const [left] = await inSite(deps.database, site).run(isAnyWaiting(site));
      const isDone = left?.waiting !== true;
      return {
        cursor: {},
        progress: { done: progress.done + rows.length, total: null },
        isDone,
        writes: isDone ? [addRetryIfWaiting(crypto.randomUUID(), site)] : [],
        ...(rows.length < STEP_MESSAGES && { pauseSeconds: PAUSE_SECONDS }),
      };
    },
  });
