/**
 * Posts notifications: in the order of the events, at least once, one notification of a subscription at a time. The state of the
 * API key was asked when the subscription was claimed.
 */
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Config } from '../../config.ts';
import type { Database, Deps } from '../../deps.ts';
import { postWebhook, type WebhookAnswer, type WebhookPosting } from '../../http/post-webhook.ts';
import { subscriptionPurpose } from '../../http/webhook-signature.ts';
import { addAudit } from '../../store/audit.ts';
import {
  type ClaimedSubscription,
  findEvents,
  refusalOf,
  releaseSubscription,
  type SubscriptionStatus,
  subscriptionTried,
} from '../../store/subscription.ts';
import { FHIR_JSON } from '../media-type.ts';
import { rootOf } from '../resource-answer.ts';
import { PAGE_BYTES } from './interactions.ts';
import { type NotificationType, notificationText } from './notification.ts';

export type Delivering = WebhookPosting &
  Pick<Deps, 'now' | 'log' | 'wake'> & { readonly config: Pick<Config, 'INTEGRATION_FHIR_PUBLIC_BASE_URL'> };

interface Claim {
  readonly site: string;
  readonly lease: string;
  readonly claimed: ClaimedSubscription;
}

interface Position {
  /** It begins, or begins again, with a notification without events. */
  readonly needsHandshake: boolean;
  /** The last event that was accepted. */
  readonly after: string;
  /** The last event; `after` while it needs a handshake. */
  readonly upto: string;
}

/** A handshake has no events. */
function positionOf(status: SubscriptionStatus, after: string, lastEvent: string): Position {
  const needsHandshake = status === 'requested';
  return { needsHandshake, after, upto: needsHandshake ? after : lastEvent };
}

const kindOf = ({ needsHandshake, after, upto }: Position): NotificationType => {
  if (needsHandshake) return 'handshake';
  return after === upto ? 'heartbeat' : 'event-notification';
};

/** The next events, and why they may not be posted now. The audit row names the client and the host. */
async function nextOf(database: Database, { site, claimed }: Claim, { after, upto }: Position, requestId: string) {
  const { subscription_id: id, client_id: clientId, host, max_count: limit } = claimed;
  const range = {
    site,
    id,
    clientId,
    types: null,
    after,
    time: null,
    upto,
    limit,
    content: null,
    maxBytes: PAGE_BYTES,
  };
  const actor = { kind: 'key', name: null, clientId, address: host, requestId } as const;
  const audit = addAudit(site, actor, { action: null, searched: null });
  const [[row], events] = await database.batch([refusalOf(site, id), findEvents(range), audit] as const);
  return { refusal: row === undefined ? 'key' : row.refusal, events };
}

/**
 * Posts one notification.
 *
 * @param database the database in the site
 * @returns the position if a post remains; undefined: the claim is released; `lost`: the subscription was changed meanwhile
 */
async function deliverOne(
  deps: Delivering,
  database: Database,
  claim: Claim,
  position: Position,
): Promise<Position | 'lost' | undefined> {
  const { site, lease, claimed } = claim;
  const { subscription_id: id, type, endpoint: url } = claimed;
  const nowMs = deps.now();
  const bundleId = uuidv7(nowMs);
  const notification = kindOf(position);
  const { refusal, events } = await nextOf(database, claim, position, bundleId);
  const post = (): Promise<WebhookAnswer> => {
    const root = rootOf(deps.config);
    const status = position.needsHandshake ? 'requested' : 'active';
    const notified = { root, id, type, status, lastEvent: position.upto, notification, events } as const;
    const body = notificationText(notified, bundleId, new Date(nowMs).toISOString());
    // The id stays the same for each post of these events.
    const [first, last] = [events[0], events.at(-1)];
    const of = first === undefined || last === undefined ? bundleId : `${first.event}-${last.event}`;
    const purpose = subscriptionPurpose(site, id);
    const webhook = { purpose, id: `${id}.${of}`, url, body, contentType: FHIR_JSON, sealedHeaders: claimed.headers };
    return postWebhook(deps, webhook, nowMs);
  };
  const { answer, isDelivered } = refusal === null ? await post() : { answer: refusal, isDelivered: false };
  const upto = isDelivered && !position.needsHandshake ? (events.at(-1)?.event ?? position.after) : null;
  const [row] = await database.run(subscriptionTried({ site, id, lease, upto, answer, isDelivered }));
  const entry = { site, subject: id, result: answer };
  if (row?.status === 'error') deps.log({ level: 'error', event: 'subscription.error', ...entry });
  else if (!isDelivered && answer !== 'off') deps.log({ level: 'warn', event: 'subscription.not-delivered', ...entry });
  if (row === undefined) return 'lost';
  if (row.is_released) return undefined;
  return positionOf(row.status, upto ?? position.after, row.last_event);
}

/** The end of a claim's time: a claim that is not released by then is claimed again. */
export const LEASE_SECONDS = 60;
const BUDGET_MS = 40_000;

/**
 * Posts what a claimed subscription has, until a post is not accepted or the time is used up. Then another claim continues at once.
 *
 * @param mayContinue asked before each further notification
 */
export async function deliver(
  deps: Delivering,
  database: Database,
  claim: Claim,
  mayContinue: () => boolean,
): Promise<void> {
  const until = deps.now() + BUDGET_MS;
  const { status, delivered, last_event: lastEvent } = claim.claimed;
  let position = await deliverOne(deps, database, claim, positionOf(status, delivered, lastEvent));
  while (typeof position === 'object' && deps.now() < until && mayContinue())
    position = await deliverOne(deps, database, claim, position);
  if (position === undefined) return;
  await database.run(releaseSubscription(claim.site, claim.claimed.subscription_id, claim.lease));
  deps.wake?.(claim.site);
}
