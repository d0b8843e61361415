/**
 * Notifications, and the status of a subscription (Subscriptions R5 Backport IG 1.1 for R4, Notifications). A notification is a
 * Bundle of type history. Its first entry is Parameters with the status and the events.
 */
import { type JsonObject, printJson } from '../../../shared/json.ts';
import type { EventRow, SubscriptionStatus } from '../../store/subscription.ts';
import { renderResource } from '../../store/resource.ts';
import { type BundleLink, bundleText } from '../bundle-text.ts';
import { etagOf } from '../conditional-headers.ts';
import { urlOf } from '../resource-answer.ts';

export const BACKPORT = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const STATUS_PROFILE = `${BACKPORT}/backport-subscription-status-r4`;
const NOTIFICATION_PROFILE = `${BACKPORT}/backport-subscription-notification-r4`;

export const topicUrl = (root: string, type: string): string => `${root}/SubscriptionTopic/${type}-changed`;
export const subscriptionUrl = (root: string, id: string): string => `${root}/Subscription/${id}`;

export type NotificationType = 'handshake' | 'heartbeat' | 'event-notification' | 'query-status' | 'query-event';

export interface Notified {
  readonly root: string;
  readonly id: string;
  readonly type: string;
  readonly status: SubscriptionStatus;
  /** The number of its events. */
  readonly lastEvent: string;
  readonly notification: NotificationType;
  readonly events: readonly EventRow[];
  /** Why the last post was not accepted. */
  readonly error?: string | null;
}

const focusOf = (root: string, { type, id, version, last_updated }: EventRow): string =>
  version === null || last_updated === null ? urlOf(root, type, id) : `${urlOf(root, type, id)}/_history/${version}`;

/** The Parameters with the status. */
export function statusOf({ root, id, type, status, lastEvent, notification, events, error }: Notified): JsonObject {
  const parameter: JsonObject[] = [
    { name: 'subscription', valueReference: { reference: subscriptionUrl(root, id) } },
    { name: 'topic', valueCanonical: topicUrl(root, type) },
    { name: 'status', valueCode: status },
    { name: 'type', valueCode: notification },
    { name: 'events-since-subscription-start', valueString: lastEvent },
    ...events.map((event) => ({
      name: 'notification-event',
      part: [
        { name: 'event-number', valueString: event.event },
        { name: 'timestamp', valueInstant: event.last_updated ?? event.reached },
        { name: 'focus', valueReference: { reference: focusOf(root, event) } },
      ],
    })),
    ...(error === undefined || error === null ? [] : [{ name: 'error', valueCodeableConcept: { text: error } }]),
  ];
  return { resourceType: 'Parameters', meta: { profile: [STATUS_PROFILE] }, parameter };
}

/** An entry of a change. An erased version has none, since nothing of it remains; the erasure itself is a DELETE. */
function entryOf(root: string, event: EventRow): string[] {
  const { type, id, version, last_updated, meta, body } = event;
  const fullUrl = urlOf(root, type, id);
  if (version === null) {
    const request = { method: 'DELETE', url: `${type}/${id}` };
    return [printJson({ fullUrl, request, response: { status: '204' } })];
  }
  if (last_updated === null) return [];
  const isCreated = version === 1;
  const request = { method: isCreated ? 'POST' : 'PUT', url: isCreated ? type : `${type}/${id}` };
  const response = { status: isCreated ? '201' : '200', etag: etagOf(version), lastModified: last_updated };
  const resource =
    meta === null || body === null
      ? ''
      : `"resource":${renderResource({ type, id, version, last_updated, meta, body })},`;
  return [`{"fullUrl":"${fullUrl}",${resource}"request":${printJson(request)},"response":${printJson(response)}}`];
}

/** The Bundle, as JSON text. @param now an instant */
export function notificationText(
  notified: Notified,
  bundleId: string,
  now: string,
  links: readonly BundleLink[] = [],
): string {
  const { root, id, events } = notified;
  const status = printJson({
    fullUrl: `urn:uuid:${bundleId}`,
    resource: statusOf(notified),
    request: { method: 'GET', url: `${subscriptionUrl(root, id)}/$status` },
    response: { status: '200' },
  });
  const head = { id: bundleId, meta: { profile: [NOTIFICATION_PROFILE] }, type: 'history', timestamp: now };
  return bundleText(head, links, [status, ...events.flatMap((event) => entryOf(root, event))]);
}
