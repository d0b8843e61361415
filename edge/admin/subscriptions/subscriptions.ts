/** Lists and changes the subscriptions of a site, for the console, the JSON API and the command line. */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { ALL_RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { AFTER_THE_WINDOW } from '../../http/fault-status.ts';
import { checkForeignUrl } from '../../http/guarded-fetch.ts';
import { postWebhook } from '../../http/post-webhook.ts';
import { RECEIVER_HEADERS, readReceiverHeaders, sealReceiverHeaders } from '../../http/receiver-headers.ts';
import { subscriptionPurpose, webhookSecret } from '../../http/webhook-signature.ts';
import {
  type AdminSubscriptionRow,
  listSubscriptions,
  type SubscriptionChange,
  type SwitchOutcome,
  switchSubscription,
} from '../../store/admin-subscription.ts';
import { inSite } from '../../store/in-site.ts';
import {
  deleteSubscription,
  MAX_EVENTS,
  MAX_HEARTBEAT_SECONDS,
  MAX_SUBSCRIPTION_TEXT,
  MAX_SUBSCRIPTIONS_OF_KEY,
  MIN_HEARTBEAT_SECONDS,
  PAYLOADS,
  SUBSCRIPTION_STATUSES,
  type SubscriptionWritten,
  writeSubscription,
} from '../../store/subscription.ts';
import { fromCursor, type List, toList, UUID_PART } from '../api/cursor.ts';
import { instant } from '../api/instant.ts';
import { paging } from '../api/operation.ts';
import { requireKey } from '../keys/keys.ts';
import { type Actor, requirePermission } from '../staff/actor.ts';
import type { AdminDeps } from '../web/console.ts';
import type { Notifications } from './notifications.ts';
import { BLOCKED } from './view.ts';

export const subscriptionQuery = z.strictObject({
  ...paging,
  clientId: z.string().max(40).default(''),
  status: z.enum(['', ...SUBSCRIPTION_STATUSES]).default(''),
});

const noSuch = (): Fault => new Fault('not-found', 'the site has no such subscription');

/** The newest first. @throws Fault `malformed` for a cursor that is not valid */
export async function findSubscriptions(
  database: Database,
  site: string,
  { limit, cursor, clientId, status }: z.infer<typeof subscriptionQuery>,
): Promise<List<AdminSubscriptionRow>> {
  const before = fromCursor(cursor, UUID_PART)?.[0] ?? null;
  const query = listSubscriptions(site, { id: null, clientId, status }, before, limit + 1);
  return toList(await inSite(database, site).run(query), limit, (row) => [row.subscription_id]);
}

/** @throws Fault `not-found` */
export async function requireSubscription(database: Database, site: string, id: string): Promise<AdminSubscriptionRow> {
  const query = listSubscriptions(site, { id, clientId: '', status: '' }, null, 1);
  const [row] = isUuid(id) ? await inSite(database, site).run(query) : [];
  if (row === undefined) throw noSuch();
  return row;
}

export const resendBody = z.strictObject({
  from: z
    .int('must be the number of an event')
    .min(1, 'must be the number of an event')
    .meta({ description: 'The first event to send again.' }),
});

function requireDone(outcome: SwitchOutcome | undefined): void {
  switch (outcome) {
    case 'done':
      return;
    case 'key':
    case 'scope':
    case 'host':
      throw new Fault('conflict', `${BLOCKED[outcome]} Change the API key first.`);
    case 'ended':
      throw new Fault('conflict', 'The end of the subscription has passed. The client can set another `end`.');
    case 'event': {
      const message = 'must be the number of an event that was delivered';
      throw new Fault('invalid', `from ${message}`, { issues: [{ code: 'invalid', message, at: 'from' }] });
    }
    case 'missing':
    case undefined:
      throw noSuch();
  }
}

export type Changing = Pick<AdminDeps, 'wake'>;

/**
 * Pauses, resumes, or sends events again.
 *
 * @param from the first event to send again; null for other changes
 * @returns the subscription after the change
 * @throws Fault `not-found`, `conflict` if nothing may be posted, `invalid` for another event, `forbidden`
 */
export async function changeSubscription(
  { wake }: Changing,
  database: Database,
  actor: Actor,
  id: string,
  change: SubscriptionChange,
  from: number | null = null,
): Promise<AdminSubscriptionRow> {
  requirePermission(actor, 'site.api_keys.update');
  if (!isUuid(id)) throw noSuch();
  const [[changed], [row]] = await inSite(database, actor.site).batch([
    switchSubscription(actor.site, id, change, from),
    listSubscriptions(actor.site, { id, clientId: '', status: '' }, null, 1),
  ] as const);
  requireDone(changed?.outcome);
  if (row === undefined) throw noSuch();
  wake?.(actor.site);
  return row;
}

/** @throws Fault `not-found`, `forbidden` */
export async function removeSubscription(database: Database, actor: Actor, id: string): Promise<void> {
  requirePermission(actor, 'site.api_keys.update');
  const query = deleteSubscription({ site: actor.site, clientId: null, id });
  const [deleted] = isUuid(id) ? await inSite(database, actor.site).run(query) : [];
  if (deleted === undefined) throw noSuch();
}

export const testAnswer = z.object({
  notification: z.enum(['handshake', 'heartbeat']),
  isDelivered: z.boolean(),
  answer: z.string().meta({ description: 'An HTTP status, or a code of the gateway, such as `unreachable`.' }),
});

/**
 * Posts one notification without events, and changes nothing.
 *
 * @throws Fault `not-found`, `conflict` if nothing may be posted, `throttled`, `forbidden`
 */
export async function testSubscription(
  deps: AdminDeps,
  notifications: Notifications,
  database: Database,
  actor: Actor,
  id: string,
): Promise<z.infer<typeof testAnswer>> {
  requirePermission(actor, 'site.api_keys.update');
  const row = await requireSubscription(database, actor.site, id);
  if (row.refusal !== null && row.refusal !== 'off') requireDone(row.refusal);
  if (!(await deps.rateLimiter.allow('token-client', `subscription-test ${actor.site}`))) {
    throw new Fault('throttled', 'too many tests of subscriptions: wait a minute', { headers: AFTER_THE_WINDOW });
  }
  const { type, status, last_event: lastEvent, endpoint: url, headers: sealedHeaders } = row;
  const { notification, ...post } = notifications.testNotification({ id, type, status, lastEvent });
  const purpose = subscriptionPurpose(actor.site, id);
  const answer = await postWebhook(deps, { purpose, url, sealedHeaders, ...post }, deps.now());
  return { notification, ...answer };
}

const SECONDS = `must be a whole number from ${MIN_HEARTBEAT_SECONDS} to ${MAX_HEARTBEAT_SECONDS}, or null`;
const EVENTS = `must be a whole number from 1 to ${MAX_EVENTS}`;
const TEXT = `must have 1 to ${MAX_SUBSCRIPTION_TEXT} characters`;
const text = z.string({ error: TEXT }).trim().min(1, TEXT).max(MAX_SUBSCRIPTION_TEXT, TEXT);

export const newSubscription = z.strictObject({
  clientId: z.string({ error: 'is required' }).max(40),
  type: z.enum(ALL_RESOURCE_TYPES, { error: 'must be a resource type with a topic' }),
  filter: z
    .string()
    .max(MAX_SUBSCRIPTION_TEXT, `at most ${MAX_SUBSCRIPTION_TEXT} characters`)
    .default('')
    .meta({ description: 'A search without its type, such as `code=8867-4`. Empty: each change of the type.' }),
  endpoint: text.meta({ description: 'https, at one of the subscription hosts of the API key.' }),
  headers: z
    .array(z.string())
    .default([])
    .meta({ description: `Headers that the receiver asks for, each \`Name: value\`: ${RECEIVER_HEADERS.join(', ')}.` }),
  payload: z.enum(PAYLOADS).default('id-only'),
  reason: text,
  heartbeatSeconds: z
    .int(SECONDS)
    .min(MIN_HEARTBEAT_SECONDS, SECONDS)
    .max(MAX_HEARTBEAT_SECONDS, SECONDS)
    .nullable()
    .default(null),
  maxCount: z.int(EVENTS).min(1, EVENTS).max(MAX_EVENTS, EVENTS).default(MAX_EVENTS),
  endsAt: instant.meta({ description: 'Nothing is posted after it.' }),
  since: instant.meta({ description: 'The transactionTime of an export: only later versions are events.' }),
});

const REFUSED = {
  host: ['endpoint', 'its host is not a subscription host of the API key: add it to the API key first'],
  many: ['clientId', `this API key has ${MAX_SUBSCRIPTIONS_OF_KEY} subscriptions: delete one first`],
  since: ['since', 'the change feed of the site began later: use the transactionTime of a new export'],
} as const;

function requireWritten(outcome: SubscriptionWritten | undefined): void {
  if (outcome === 'created') return;
  const refusal = outcome === 'host' || outcome === 'many' || outcome === 'since' ? REFUSED[outcome] : undefined;
  if (refusal === undefined) throw noSuch();
  throw invalid([{ code: 'invalid', at: refusal[0], message: refusal[1] }]);
}

const invalid = (issues: readonly Issue[]): Fault =>
  new Fault('invalid', `the subscription is not valid: ${issues.map(({ at }) => at).join(', ')}`, { issues });

export const SUBSCRIPTIONS_OFF = 'Subscriptions are off at this gateway: its operator can set FHIR_SUBSCRIPTIONS=on.';

export interface CreatedSubscription {
  readonly row: AdminSubscriptionRow;
  readonly secret: string;
}

/**
 * Creates a subscription of an API key, as `POST /fhir/Subscription` of the client does.
 *
 * @throws Fault `invalid` with an issue for each field, `not-found` for another key, `conflict`, `forbidden`
 */
export async function createSubscription(
  deps: AdminDeps,
  notifications: Notifications,
  database: Database,
  actor: Actor,
  given: z.infer<typeof newSubscription>,
): Promise<CreatedSubscription> {
  requirePermission(actor, 'site.api_keys.update');
  const { clientId, type, filter, endpoint, headers: lines, since, endsAt, ...rest } = given;
  const key = await requireKey(database, actor.site, clientId);
  if (!deps.config.FHIR_SUBSCRIPTIONS) throw new Fault('conflict', SUBSCRIPTIONS_OFF);
  const issues: Issue[] = [];
  const wrong = (at: string, message: string) => void issues.push({ code: 'invalid', at, message });
  if (key.status !== 'active' || !key.protocols.includes('fhir')) wrong('clientId', BLOCKED.key);
  const hasTopic = notifications.topicTypes().includes(type);
  if (!hasTopic) wrong('type', `must be one of ${notifications.topicTypes().join(', ')}`);
  else if (!key.allowed_scopes.includes(`system/${type}.read`)) wrong('type', BLOCKED.scope);
  const problem = filter === '' || !hasTopic ? undefined : notifications.filterProblem(type, filter);
  if (problem !== undefined) wrong('filter', problem);
  const foreign = checkForeignUrl(deps.config, endpoint);
  if (foreign !== undefined) wrong('endpoint', foreign);
  const headers = readReceiverHeaders(lines);
  if (typeof headers === 'string') wrong('headers', headers);
  if (issues.length > 0 || typeof headers === 'string') throw invalid(issues);
  const id = uuidv7(deps.now());
  const { GATEWAY_SECRET: secrets } = deps.config;
  const purpose = subscriptionPurpose(actor.site, id);
  const sealed = lines.length === 0 ? null : await sealReceiverHeaders(secrets, purpose, headers);
  const host = new URL(endpoint).host;
  const record = { ...rest, type, filter, endpoint, host, headers: sealed, endsAt: endsAt || null } as const;
  const [[written], [row]] = await inSite(database, actor.site).batch([
    writeSubscription({ site: actor.site, clientId, id }, true, { ...record, status: 'requested' }, since || null),
    listSubscriptions(actor.site, { id, clientId: '', status: '' }, null, 1),
  ] as const);
  requireWritten(written?.outcome);
  if (row === undefined) throw noSuch();
  deps.wake?.(actor.site);
  return { row, secret: await webhookSecret(secrets, purpose) };
}
