/** Posts a signed notice or notification to a webhook, once. */
import type { Config } from '../config.ts';
import { deadline } from './deadline.ts';
import { guardedFetch, type GuardedFetching } from './guarded-fetch.ts';
import { openReceiverHeaders } from './receiver-headers.ts';
import { webhookHeaders } from './webhook-signature.ts';

const DEADLINE_MS = 5_000;

export type WebhookPosting = GuardedFetching & {
  readonly config: GuardedFetching['config'] & Pick<Config, 'GATEWAY_SECRET'>;
};

interface WebhookPost {
  /** The purpose of the signature's secret. */
  readonly purpose: string;
  /** The `webhook-id`. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** Default JSON. */
  readonly contentType?: string;
  /** The receiver's own headers (receiver-headers.ts), of the same purpose; null: none. */
  readonly sealedHeaders?: string | null;
}

export interface WebhookAnswer {
  /** An HTTP status, or a code of the gateway. */
  readonly answer: string;
  readonly isDelivered: boolean;
}

/** It never throws. A status 2xx is a delivery. */
export async function postWebhook(
  deps: WebhookPosting,
  { purpose, id, url, body, contentType, sealedHeaders }: WebhookPost,
  nowMs: number,
): Promise<WebhookAnswer> {
  const failed = (answer: string): WebhookAnswer => ({ answer, isDelivered: false });
  const within = deadline(DEADLINE_MS);
  try {
    const secrets = deps.config.GATEWAY_SECRET;
    const own = typeof sealedHeaders === 'string' ? await openReceiverHeaders(secrets, purpose, sealedHeaders) : {};
    if (own === undefined) return failed('headers');
    const signed = await webhookHeaders(secrets, purpose, id, nowMs, body);
    const headers = { ...own, ...signed, ...(contentType === undefined ? {} : { 'content-type': contentType }) };
    const answer = await guardedFetch(deps, url, { method: 'POST', headers, body }, within);
    if ('failed' in answer) return failed(answer.failed);
    await answer.body?.cancel();
    return { answer: String(answer.status), isDelivered: answer.status >= 200 && answer.status < 300 };
  } catch {
    return failed(within.signal.aborted ? 'timeout' : 'unreachable');
  } finally {
    within.clear();
  }
}
