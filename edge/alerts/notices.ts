/**
 * The job that posts notices of alerts to the webhook of their site. A notice is signed, arrives at least once, and is retried
 * for three days with the same id. It contains no patient data.
 */
import * as z from 'zod';

import { ALERT_KINDS } from '../alert-kinds.ts';
import type { Config } from '../config.ts';
import { postWebhook, type WebhookPosting } from '../http/post-webhook.ts';
import { alertPurpose } from '../http/webhook-signature.ts';
import { jobKind, type JobKind } from '../jobs/kind.ts';
import { ALERT_NOTICES_KIND, type NoticeRow, noticesDue, noticesTried, type Tried } from '../store/alert.ts';

/** A step must end within its lease, and a Worker has six connections at a time. */
const MAX_NOTICES = 24;
const MAX_OF_SITE = 6;
const PAUSE_SECONDS = 20;

/** The body, as Standard Webhooks 1.0 defines it. */
function noticeBody(row: NoticeRow, consoleUrl: string | undefined): string {
  return JSON.stringify({
    type: row.state === 'firing' ? 'alert.firing' : 'alert.resolved',
    timestamp: row.at,
    data: {
      alertId: row.alert_id,
      site: row.site_id,
      kind: row.kind,
      subject: row.subject,
      summary: ALERT_KINDS[row.kind].title,
      firingSince: row.firing_since,
      resolvedAt: row.state === 'resolved' ? row.resolved_at : null,
      times: row.times,
      ...(consoleUrl === undefined ? {} : { url: `${consoleUrl}/admin/alerts` }),
    },
  });
}

type Posting = WebhookPosting & { readonly config: Pick<Config, 'ADMIN_PUBLIC_BASE_URL'> };

async function post(deps: Posting, row: NoticeRow, nowMs: number): Promise<Tried> {
  const { site_id: site, notice_id: id, webhook: url } = row;
  if (url === null) return { site, id, answer: 'no-webhook', isDelivered: false };
  const body = noticeBody(row, deps.config.ADMIN_PUBLIC_BASE_URL);
  return { site, id, ...(await postWebhook(deps, { purpose: alertPurpose(site), id, url, body }, nowMs)) };
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
