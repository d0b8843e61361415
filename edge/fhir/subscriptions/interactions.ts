/** The interactions with Subscriptions: an API key sees its own only (Subscriptions R5 Backport IG 1.1, RESTful operations). */
import { Fault } from '../../../shared/fault.ts';
import { type JsonObject, printJson } from '../../../shared/json.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import { sealReceiverHeaders } from '../../http/receiver-headers.ts';
import { subscriptionPurpose, webhookSecret } from '../../http/webhook-signature.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import {
  deleteSubscription,
  findEvents,
  findSubscriptions,
  firstEvent,
  type FirstEventRow,
  MAX_EVENTS,
  MAX_SUBSCRIPTIONS_OF_KEY,
  type SubscriptionRow,
  type SubscriptionWritten,
  writeSubscription,
} from '../../store/subscription.ts';
import { bundleText } from '../bundle-text.ts';
import { ifMatchOf, refuseNoneExist, requireNoConditions } from '../conditional-headers.ts';
import { FORM_CONTROLS } from '../controls/controls.ts';
import { badParameter, type Pair } from '../controls/faults.ts';
import { strictControls } from '../controls/write-controls.ts';
import { type Answer, type Interaction, NOTED, readScope, type RequestContext } from '../interaction.ts';
import type { Call } from '../prepare.ts';
import { primitiveParameters } from '../operation-input.ts';
import { readInstant } from '../prefixed-date.ts';
import { readJson, readJsonIfAny } from '../resource-body.ts';
import { versionHeaders } from '../resource-answer.ts';
import { notificationText, statusOf, subscriptionUrl } from './notification.ts';
import { errorOf, faultAt, readSubscription, showSubscription } from './resource.ts';

const HINT = 'a Subscription has no other parameters';
/** The limit of a page of `$events`; a larger event is alone on its page. */
export const PAGE_BYTES = 1024 * 1024;
/** Above every event number. */
const LAST = '9223372036854775807';

const unknown = (): Fault => new Fault('not-found', 'this API key has no Subscription with this id');

const refuseUnknown = (): Interaction => ({
  audited: 'none',
  queries: [],
  answer: () => {
    throw unknown();
  },
});

const keyOf = ({ caller }: RequestContext, id: string) => ({ site: caller.site, clientId: caller.clientId, id });

const REFUSED: Readonly<
  Record<Exclude<SubscriptionWritten, 'created' | 'updated' | 'missing' | 'version'>, readonly [string, string]>
> = {
  host: [
    'the subscription hosts of this API key do not have the host of the endpoint: ask an administrator of the site to add it',
    'channel.endpoint',
  ],
  many: [`this API key has ${MAX_SUBSCRIPTIONS_OF_KEY} subscriptions: delete one first`, 'id'],
  since: [
    'the change feed of the site began after subscription-start: make a new export, and start at its transactionTime',
    'extension',
  ],
  other: ['the topic and the filter cannot be changed: create another Subscription', 'criteria'],
};

function requireWritten(outcome: SubscriptionWritten | undefined): void {
  if (outcome === 'created' || outcome === 'updated') return;
  if (outcome === undefined || outcome === 'missing') throw unknown();
  if (outcome === 'version')
    throw new Fault('precondition-failed', 'the Subscription has another version than If-Match names: read it again');
  throw faultAt(...REFUSED[outcome]);
}

/** @throws Fault `not-found` without a row */
function required(row: SubscriptionRow | undefined): SubscriptionRow {
  if (row === undefined) throw unknown();
  return row;
}

function shown(root: string, found: SubscriptionRow | undefined, status: 200 | 201, secret?: string): Answer {
  const row = required(found);
  const headers = versionHeaders({ version: row.version, last_updated: row.updated_at });
  const location = { Location: `${subscriptionUrl(root, row.subscription_id)}/_history/${row.version}` };
  return {
    status,
    headers: { ...headers, ...(status === 201 ? location : {}) },
    body: printJson(showSubscription(root, row, secret)),
  };
}

async function prepareWrite(call: Call, id: string, isNew: boolean): Promise<Interaction> {
  const { context, deps, pairs, request } = call;
  // Clients send If-Match with the version that they have read.
  const expected = isNew ? null : ifMatchOf(request.headers);
  const others = { get: (name: string) => (name === 'if-match' && !isNew ? null : request.headers.get(name)) };
  requireNoConditions(others, 'a Subscription');
  strictControls(pairs, FORM_CONTROLS, HINT);
  const { record, since, headers } = readSubscription(deps.config, context, await readJson(call));
  requireScopes(context.caller, [readScope(record.type)]);
  const key = keyOf(context, id);
  const { GATEWAY_SECRET: secrets } = deps.config;
  const purpose = subscriptionPurpose(key.site, id);
  const sealed = headers === null ? null : await sealReceiverHeaders(secrets, purpose, headers);
  const written = writeSubscription(
    key,
    isNew,
    { ...record, headers: sealed },
    since,
    expected === 'any' ? null : expected,
  );
  const found = findSubscriptions(key.site, key.clientId, id);
  const secret = await webhookSecret(secrets, purpose);
  return {
    audited: NOTED,
    queries: [written, found],
    answer: (rowsOf) => {
      requireWritten(rowsOf(written)[0]?.outcome);
      return shown(context.root, rowsOf(found)[0], isNew ? 201 : 200, secret);
    },
  };
}

export const prepareCreate = (call: Call): Promise<Interaction> => prepareWrite(call, uuidv7(call.context.now), true);

export const prepareUpdate = async (call: Call): Promise<Interaction> =>
  isUuid(call.id) ? prepareWrite(call, call.id, false) : refuseUnknown();

export function prepareRead({ context, id, pairs, request }: Call): Interaction {
  refuseNoneExist(request.headers);
  strictControls(pairs, FORM_CONTROLS, HINT);
  if (!isUuid(id)) return refuseUnknown();
  const found = findSubscriptions(context.caller.site, context.caller.clientId, id);
  return { audited: 'none', queries: [found], answer: (rowsOf) => shown(context.root, rowsOf(found)[0], 200) };
}

export function prepareList({ context, pairs, request }: Call): Interaction {
  refuseNoneExist(request.headers);
  strictControls(pairs, FORM_CONTROLS, HINT);
  const { root, caller } = context;
  const found = findSubscriptions(caller.site, caller.clientId, null);
  const answer = (rows: readonly SubscriptionRow[]): string => {
    const entries = rows.map((row): JsonObject => ({
      fullUrl: subscriptionUrl(root, row.subscription_id),
      resource: showSubscription(root, row),
      search: { mode: 'match' },
    }));
    return bundleText({ type: 'searchset', total: rows.length }, [], entries.map(printJson));
  };
  return {
    audited: 'none',
    queries: [found],
    answer: (rowsOf) => ({ status: 200, headers: {}, body: answer(rowsOf(found)) }),
  };
}

export function prepareDelete({ context, id, pairs, request }: Call): Interaction {
  requireNoConditions(request.headers, 'a Subscription');
  strictControls(pairs, FORM_CONTROLS, HINT);
  if (!isUuid(id)) return refuseUnknown();
  const deleted = deleteSubscription(keyOf(context, id));
  return {
    audited: NOTED,
    queries: [deleted],
    answer: (rowsOf) => {
      if (rowsOf(deleted).length === 0) throw unknown();
      return { status: 200, headers: {}, body: null };
    },
  };
}

const EVENT = /^(?:0|[1-9]\d{0,17})$/;

function eventNumber(given: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = given.get(name);
  if (value === undefined || EVENT.test(value)) return value;
  throw badParameter(name, `${name} must be the number of an event`);
}

/** The parameters of the URL and, of a POST, of its body. */
async function parametersOf({ pairs, request, body }: Call): Promise<readonly Pair[]> {
  refuseNoneExist(request.headers);
  if (request.method !== 'POST') return pairs;
  return [...pairs, ...primitiveParameters(await readJsonIfAny({ request, body }))];
}

/** `$status`: how far the subscription is. */
export async function prepareStatus(call: Call): Promise<Interaction> {
  const { context, id } = call;
  strictControls(await parametersOf(call), FORM_CONTROLS, HINT);
  if (!isUuid(id)) return refuseUnknown();
  const { root, caller } = context;
  const found = findSubscriptions(caller.site, caller.clientId, id);
  return {
    audited: 'none',
    queries: [found],
    answer: (rowsOf) => {
      const row = required(rowsOf(found)[0]);
      const { type, status, last_event: lastEvent } = row;
      const notified = { root, id, type, status, lastEvent, notification: 'query-status', events: [] } as const;
      const resource = statusOf({ ...notified, error: errorOf(row) ?? null });
      const entry = printJson({ fullUrl: `urn:uuid:${uuidv7(context.now)}`, resource, search: { mode: 'match' } });
      return { status: 200, headers: {}, body: bundleText({ type: 'searchset', total: 1 }, [], [entry]) };
    },
  };
}

const TIME = 'eventsSinceTime';
const EVENTS = ['eventsSinceNumber', 'eventsUntilNumber', TIME, 'content'];

/** @returns an instant; null: not given */
function eventTime(given: ReadonlyMap<string, string>): string | null {
  const value = given.get(TIME);
  if (value === undefined) return null;
  if (given.has('eventsSinceNumber'))
    throw badParameter(TIME, `${TIME} and eventsSinceNumber cannot be used together: send one of them`);
  const time = readInstant(value);
  if (time !== undefined) return time;
  throw badParameter(TIME, `${TIME} must be an instant, such as 2026-01-31T08:00:00Z: a date, a time and a zone`);
}

/** @throws Fault `malformed` for a time before which, or from which, the events cannot be known */
function requireKnownTime(time: string, { is_future: isFuture, starts_at: start }: FirstEventRow): void {
  if (isFuture) throw badParameter(TIME, `${TIME} is in the future: send an earlier time`);
  if (Date.parse(time) >= Date.parse(start)) return;
  const all = 'for all its events, send eventsSinceNumber=1';
  throw badParameter(TIME, `${TIME} must not be before ${start}, when this Subscription begins: ${all}`);
}

/** The addresses of the page, whose first event has the number `first`, and of the next page. */
function linksOf(path: string, first: string, given: ReadonlyMap<string, string>, next: string | undefined) {
  const urlFrom = (number: string): string => {
    const kept = [...given].filter(([name]) => name === 'eventsUntilNumber' || name === 'content');
    return `${path}/$events?${new URLSearchParams([['eventsSinceNumber', number], ...kept]).toString()}`;
  };
  const self = { relation: 'self', url: urlFrom(first) };
  return next === undefined ? [self] : [self, { relation: 'next', url: urlFrom(next) }];
}

/** `$events`: stored events again, at most 100. The link `self` has the number of the first, `next` that of the next page. */
export async function prepareEvents(call: Call): Promise<Interaction> {
  const { context, id } = call;
  const hint = `the parameters are ${EVENTS.join(', ')}`;
  const given = strictControls(await parametersOf(call), [...EVENTS, ...FORM_CONTROLS], hint);
  if (!isUuid(id)) return refuseUnknown();
  const { root, caller } = context;
  const number = eventNumber(given, 'eventsSinceNumber') ?? '1';
  const upto = eventNumber(given, 'eventsUntilNumber') ?? LAST;
  const time = eventTime(given);
  const content = given.get('content');
  if (content !== undefined && content !== 'id-only' && content !== 'full-resource')
    throw badParameter('content', 'content must be id-only or full-resource');
  const key = keyOf(context, id);
  const found = findSubscriptions(caller.site, caller.clientId, id);
  const from = time === null ? undefined : firstEvent(key, time);
  const events = findEvents({
    ...key,
    types: context.types.filter((type) => caller.scopes.has(readScope(type))),
    after: String(BigInt(number) - 1n),
    time,
    upto,
    limit: MAX_EVENTS,
    content: content ?? null,
    maxBytes: PAGE_BYTES,
  });
  return {
    audited: NOTED,
    queries: [found, ...(from === undefined ? [] : [from]), events],
    answer: (rowsOf) => {
      const { type, status, last_event: lastEvent } = required(rowsOf(found)[0]);
      requireScopes(caller, [readScope(type)]);
      const at = from === undefined ? undefined : rowsOf(from)[0];
      if (at !== undefined && time !== null) requireKnownTime(time, at);
      const page = rowsOf(events);
      const notified = { root, id, type, status, lastEvent, notification: 'query-event', events: page } as const;
      const last = page.at(-1)?.event;
      const hasMore = last !== undefined && BigInt(last) < BigInt(lastEvent) && BigInt(last) < BigInt(upto);
      const next = hasMore ? String(BigInt(last) + 1n) : undefined;
      const first = at === undefined ? number : (page[0]?.event ?? at.event);
      const links = linksOf(subscriptionUrl(root, id), first, given, next);
      const now = new Date(context.now).toISOString();
      return { status: 200, headers: {}, body: notificationText(notified, uuidv7(context.now), now, links) };
    },
  };
}
