/** A subscription as the JSON API returns it and the pages show it. */
import * as z from 'zod';

import { ALL_RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import type { Permission } from '../../permissions.ts';
import type { AdminSubscriptionRow } from '../../store/admin-subscription.ts';
import { PAYLOADS, SUBSCRIPTION_STATUSES } from '../../store/subscription.ts';

const instant = z.iso.datetime();
const count = z.number().int();

export const subscriptionItem = z.object({
  subscriptionId: z.uuid(),
  clientId: z.string(),
  keyName: z.string(),
  type: z.enum(ALL_RESOURCE_TYPES),
  filter: z.string().nullable().meta({
    description:
      'A search of the type, which may name a patient: only with site.messages.read. Empty without a filter.',
  }),
  filterParameters: z.array(z.string()).meta({ description: 'The names of the parameters of the filter.' }),
  payload: z.enum(PAYLOADS),
  host: z.string(),
  endpoint: z.string().nullable().meta({ description: 'The complete address; only with site.api_keys.update.' }),
  hasHeaders: z
    .boolean()
    .meta({ description: 'The receiver gets the headers that it asks for. Their values are never shown.' }),
  reason: z.string(),
  heartbeatSeconds: count.nullable(),
  maxCount: count.meta({ description: 'The most events of a notification.' }),
  since: instant.nullable().meta({ description: 'Only versions after this time are events.' }),
  endsAt: instant.nullable(),
  status: z.enum(SUBSCRIPTION_STATUSES).meta({ description: '`off`: paused, or its end has passed.' }),
  hasEnded: z.boolean(),
  blockedBy: z.enum(['key', 'scope', 'host']).nullable().meta({
    description:
      'Why nothing may be posted: the API key is not active for FHIR, may not read the type, or does not list the host.',
  }),
  lastEvent: count.meta({ description: 'The number of its events.' }),
  delivered: count.meta({ description: 'The last event that the receiver accepted.' }),
  lag: z.object({
    events: count.meta({ description: 'Events that are not delivered.' }),
    seconds: count.meta({ description: 'The age of the first of them; 0 without one.' }),
    uncompared: count.meta({ description: 'Changes of the site that are not compared with the filter yet.' }),
  }),
  throughput: z
    .object({ hour: count, day: count })
    .meta({ description: 'Events that were accepted in the last hour and day, to a quarter of an hour.' }),
  isPosting: z.boolean(),
  deliveredAt: instant.nullable().meta({ description: 'The last accepted notification.' }),
  triedAt: instant.nullable(),
  lastAnswer: z.string().nullable().meta({
    description: 'An HTTP status, or a code of the gateway, such as `timeout`, `unreachable` or `filter`.',
  }),
  attempts: count.meta({ description: 'Failed posts since the last accepted one.' }),
  failingSince: instant.nullable(),
  nextAt: instant.nullable().meta({ description: 'The next post; null if none is planned.' }),
  error: z.string().nullable(),
  updatedAt: instant,
});
export type SubscriptionView = z.infer<typeof subscriptionItem>;

/** Why nothing is posted. */
export const BLOCKED = {
  key: 'The API key is not active, or may not use FHIR.',
  scope: 'The API key has no scope to read this type.',
  host: 'The subscription hosts of the API key do not have this host.',
} as const;

const errorOf = (row: AdminSubscriptionRow): string | null => {
  const { refusal, status, last_answer: answer, attempts } = row;
  if (status === 'error' && answer === 'filter')
    return 'This deployment no longer has a search parameter of the filter. Delete the subscription and create another one.';
  if (refusal !== null && refusal !== 'off') return BLOCKED[refusal];
  if (status !== 'error' && (status === 'off' || attempts === 0)) return null;
  if (answer === 'headers') return 'The gateway cannot decrypt the headers any more: the client sends them again.';
  return `The receiver did not accept the last notification: ${answer ?? 'no answer'}.`;
};

/** Null if nothing waits. */
function nextAt(row: AdminSubscriptionRow): string | null {
  const { status, attempts, tried_at: tried, heartbeat_seconds: heartbeat } = row;
  if (status === 'off' || status === 'error') return null;
  if (status === 'requested' || attempts > 0 || row.delivered !== row.last_event) return row.next_at;
  return tried === null || heartbeat === null ? null : new Date(Date.parse(tried) + heartbeat * 1000).toISOString();
}

export function viewSubscription(row: AdminSubscriptionRow, permissions: ReadonlySet<Permission>): SubscriptionView {
  const [lastEvent, delivered] = [Number(row.last_event), Number(row.delivered)];
  return {
    subscriptionId: row.subscription_id,
    clientId: row.client_id,
    keyName: row.key_name,
    type: row.type,
    filter: permissions.has('site.messages.read') ? row.filter : null,
    filterParameters: [...new Set(new URLSearchParams(row.filter).keys())],
    payload: row.payload,
    host: row.host,
    endpoint: permissions.has('site.api_keys.update') ? row.endpoint : null,
    hasHeaders: row.headers !== null,
    reason: row.reason,
    heartbeatSeconds: row.heartbeat_seconds,
    maxCount: row.max_count,
    since: row.since,
    endsAt: row.ends_at,
    status: row.status,
    hasEnded: row.has_ended,
    blockedBy: row.refusal === 'off' ? null : row.refusal,
    lastEvent,
    delivered,
    lag: {
      events: lastEvent - delivered,
      seconds: row.waiting_seconds ?? 0,
      uncompared: Number(row.uncompared),
    },
    throughput: { hour: Number(row.hour_events), day: Number(row.day_events) },
    isPosting: row.is_posting,
    deliveredAt: row.delivered_at,
    triedAt: row.tried_at,
    lastAnswer: row.last_answer,
    attempts: row.attempts,
    failingSince: row.failing_since,
    nextAt: nextAt(row),
    error: errorOf(row),
    updatedAt: row.updated_at,
  };
}
