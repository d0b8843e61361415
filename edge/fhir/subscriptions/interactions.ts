/** The interactions with Subscriptions: an API key sees its own only (Subscriptions R5 Backport IG 1.1, RESTful operations). */
import { Fault } from '../../../shared/fault.ts';
import { type JsonObject, printJson } from '../../../shared/json.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import { subscriptionPurpose, webhookSecret } from '../../http/webhook-signature.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import {
  deleteSubscription,
  findEvents,
  findSubscriptions,
  MAX_SUBSCRIPTIONS_OF_KEY,
  type SubscriptionRow,
  type SubscriptionWritten,
  writeSubscription,
} from '../../store/subscription.ts';
import { bundleText } from '../bundle-text.ts';
import { refuseNoneExist, requireNoConditions } from '../conditional-headers.ts';
import { FORM_CONTROLS } from '../controls/controls.ts';
import { badParameter } from '../controls/faults.ts';
import { strictControls } from '../controls/write-controls.ts';
import { type Answer, type Interaction, NOTED, readScope, type RequestContext } from '../interaction.ts';
import type { Call } from '../prepare.ts';
import { readJson } from '../resource-body.ts';
import { versionHeaders } from '../resource-answer.ts';
import { notificationText, statusOf, subscriptionUrl } from './notification.ts';
import { errorOf, faultAt, MAX_EVENTS, readSubscription, showSubscription } from './resource.ts';

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
  Record<Exclude<SubscriptionWritten, 'created' | 'updated' | 'missing'>, readonly [string, string]>
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
  requireNoConditions(request.headers, 'a Subscription');
  strictControls(pairs, FORM_CONTROLS, HINT);
  const { record, since } = readSubscription(deps.config, context, await readJson(call));
  requireScopes(context.caller, [readScope(record.type)]);
  const key = keyOf(context, id);
  const written = writeSubscription(key, isNew, record, since);
  const found = findSubscriptions(key.site, key.clientId, id);
  const secret = isNew ? await webhookSecret(deps.config.GATEWAY_SECRET, subscriptionPurpose(key.site, id)) : undefined;
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
    audited: 'none',
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

/** `$status`: how far the subscription is. */
export function prepareStatus({ context, id, pairs }: Call): Interaction {
  strictControls(pairs, FORM_CONTROLS, HINT);
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

const EVENTS = ['eventsSinceNumber', 'eventsUntilNumber', 'content'];

/**
 * `$events`: stored events again, at most 100, with `eventsSinceNumber` the first of them. The client asks again behind the
 * last number until it has `events-since-subscription-start`.
 */
export function prepareEvents({ context, id, pairs }: Call): Interaction {
  const given = strictControls(pairs, [...EVENTS, ...FORM_CONTROLS], `the parameters are ${EVENTS.join(', ')}`);
  if (!isUuid(id)) return refuseUnknown();
  const { root, caller } = context;
  const first = eventNumber(given, 'eventsSinceNumber') ?? '1';
  const content = given.get('content');
  if (content !== undefined && content !== 'id-only' && content !== 'full-resource')
    throw badParameter('content', 'content must be id-only or full-resource');
  const found = findSubscriptions(caller.site, caller.clientId, id);
  const events = findEvents({
    ...keyOf(context, id),
    types: context.types.filter((type) => caller.scopes.has(readScope(type))),
    after: String(BigInt(first) - 1n),
    upto: eventNumber(given, 'eventsUntilNumber') ?? LAST,
    limit: MAX_EVENTS,
    content: content ?? null,
    maxBytes: PAGE_BYTES,
  });
  return {
    audited: NOTED,
    queries: [found, events],
    answer: (rowsOf) => {
      const { type, status, last_event: lastEvent } = required(rowsOf(found)[0]);
      requireScopes(caller, [readScope(type)]);
      const listed = { notification: 'query-event', events: rowsOf(events) } as const;
      const notified = { root, id, type, status, lastEvent, ...listed };
      const now = new Date(context.now).toISOString();
      return { status: 200, headers: {}, body: notificationText(notified, uuidv7(context.now), now) };
    },
  };
}
