/**
 * The work that posts what is to be told of alerts to the webhook of its site: at least once, signed, with an id that stays
 * the same, and tried again for three days. It says which alert, of what, and where to look: nothing of a patient.
 */
import * as z from 'zod';

import { ALERT_WORDS } from '../alert-words.ts';
import type { Config } from '../config.ts';
import { deadline } from '../http/deadline.ts';
import { guardedFetch, type GuardedFetching } from '../http/guarded-fetch.ts';
import { webhookHeaders } from '../http/webhook-signature.ts';
import { jobKind, type JobKind } from '../jobs/kind.ts';
import { ALERT_NOTICES_KIND, type NoticeRow, noticesDue, noticesTried, type Tried } from '../store/alert.ts';

const DEADLINE_MS = 5_000;
/** In one step, which must end well within its lease; Workers send six at a time. */
const MAX_NOTICES = 24;
const MAX_OF_SITE = 6;
const PAUSE_SECONDS = 20;

/** What is posted, as Standard Webhooks has it. */
export function noticeBody(row: NoticeRow, consoleUrl: string | undefined): string {
  return JSON.stringify({
    type: row.told === 'open' ? 'alert.opened' : 'alert.resolved',
    timestamp: row.at,
    data: {
      alertId: row.alert_id,
      site: row.site_id,
      kind: row.kind,
      subject: row.subject,
      summary: ALERT_WORDS[row.kind].title,
      openedAt: row.opened_at,
      resolvedAt: row.told === 'resolved' ? row.resolved_at : null,
      times: row.times,
      ...(consoleUrl === undefined ? {} : { url: `${consoleUrl}/admin/alerts` }),
    },
  });
}

type Posting = GuardedFetching & {
  readonly config: GuardedFetching['config'] & Pick<Config, 'GATEWAY_SECRET' | 'ADMIN_PUBLIC_BASE_URL'>;
};

async function post(deps: Posting, row: NoticeRow, nowMs: number): Promise<Tried> {
  const told = (answer: string, isDelivered = false): Tried => ({
    site: row.site_id,
    id: row.notice_id,
    answer,
    isDelivered,
  });
  if (row.webhook === null) return told('no-webhook');
  const within = deadline(DEADLINE_MS);
  try {
    const body = noticeBody(row, deps.config.ADMIN_PUBLIC_BASE_URL);
    const headers = await webhookHeaders(deps.config.GATEWAY_SECRET, row.site_id, row.notice_id, nowMs, body);
    const answer = await guardedFetch(deps, row.webhook, { method: 'POST', headers, body }, within);
    if ('failed' in answer) return told(answer.failed);
    await answer.body?.cancel();
    return told(String(answer.status), answer.status >= 200 && answer.status < 300);
  } catch {
    return told(within.signal.aborted ? 'timeout' : 'unreachable');
  } finally {
    within.clear();
  }
}

export const postNotices = (posting: Posting): JobKind =>
  jobKind({
    kind: ALERT_NOTICES_KIND,
    cursor: z.object({}),
    step: async ({ database, now, log }, job) => {
      const rows = await database.run(noticesDue(MAX_NOTICES, MAX_OF_SITE));
      const tried = await Promise.all(rows.map((row) => post(posting, row, now())));
      for (const { site, answer, isDelivered } of tried) {
        if (!isDelivered) log({ level: 'warn', event: 'alert.not-delivered', site, result: answer });
      }
      return {
        cursor: {},
        progress: { done: job.progress.done + tried.filter(({ isDelivered }) => isDelivered).length, total: null },
        isDone: false,
        pauseSeconds: PAUSE_SECONDS,
        writes: tried.length === 0 ? [] : [noticesTried(tried)],
      };
    },
  });
