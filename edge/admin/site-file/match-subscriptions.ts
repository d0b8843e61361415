/** Finds the stored subscription of each entry of a file. */
import * as z from 'zod';

import type { Issue } from '../../../shared/fault.ts';
import { indexBy } from '../../../shared/index-by.ts';
import type { SiteSubscriptionRow } from '../../store/admin-subscription.ts';
import { parseMembers } from '../api/parse.ts';
import { newSubscription } from '../subscriptions/subscriptions.ts';
import { type KeyAfter, type KeysAfter, type PlanOptions, under } from './part.ts';

const { shape: members } = newSubscription.omit({ clientId: true, headers: true, since: true });

/** A subscription of a file, without the headers for its receiver, which may be secrets. It is found by API key, type, filter and address, which have no name. */
export const fileSubscription = z.strictObject({
  subscriptionId: z.string().optional().meta({ description: 'Finds the subscription, also to move it.' }),
  apiKey: z.string({ error: 'is required' }).meta({ description: 'The name of an API key, or its Client ID.' }),
  ...members,
  endsAt: members.endsAt.nullable().meta({ description: 'Nothing is posted after it.' }),
  status: z.enum(['on', 'paused'], { error: 'must be on or paused' }).default('on'),
});
/** A subscription without its id and API key. */
export const subscriptionEntry = fileSubscription.omit({ apiKey: true, subscriptionId: true });
export type Entry = z.infer<typeof subscriptionEntry>;

/** A stored subscription as a file has it, except for the API key. */
export const membersOfRow = (row: SiteSubscriptionRow): Entry => ({
  type: row.type,
  filter: row.filter,
  endpoint: row.endpoint,
  payload: row.payload,
  reason: row.reason,
  heartbeatSeconds: row.heartbeat_seconds,
  maxCount: row.max_count,
  endsAt: row.ends_at,
  status: row.is_paused ? 'paused' : 'on',
});

const FOUND_BY = z.looseObject({
  type: fileSubscription.shape.type,
  filter: fileSubscription.shape.filter,
  endpoint: fileSubscription.shape.endpoint,
});

/** Names equal subscriptions. */
export const tupleOf = (clientId: string, type: string, filter: string, endpoint: string): string =>
  JSON.stringify([clientId, type, filter, endpoint]);
export const tupleOfRow = ({ client_id: id, type, filter, endpoint }: SiteSubscriptionRow): string =>
  tupleOf(id, type, filter, endpoint);

/** An entry of the file, and the stored subscription that it is about. */
export interface Matched {
  readonly at: string;
  readonly key: KeyAfter;
  /** Null for a new subscription. */
  readonly stored: SiteSubscriptionRow | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export type FileSubscriptions = readonly Readonly<Record<string, unknown>>[];

/** Finds the stored subscription of each entry, by its id, else by API key, type, filter and address. */
export function matchSubscriptions(
  rows: readonly SiteSubscriptionRow[],
  given: FileSubscriptions,
  keys: KeysAfter,
  { copy }: PlanOptions,
): { readonly matched: readonly Matched[]; readonly issues: readonly Issue[] } {
  const [matched, issues]: [Matched[], Issue[]] = [[], []];
  const byId = new Map(rows.map((row) => [row.subscription_id, row]));
  const named = new Set(copy ? [] : given.map(({ subscriptionId: id }) => id));
  const byTuple = indexBy(
    rows.filter(({ subscription_id: id }) => !named.has(id)),
    (row) => [tupleOfRow(row)],
  );
  const seen = new Set<string>();
  for (const [index, { subscriptionId: id, apiKey, ...body }] of given.entries()) {
    const at = `subscriptions[${index}]`;
    const issue = (field: string, message: string): void =>
      void issues.push({ code: 'invalid', message, at: `${at}.${field}` });
    const named = typeof apiKey === 'string' ? keys.named(apiKey) : undefined;
    if (typeof id === 'string' && !copy) {
      const stored = byId.get(id);
      const key = stored && keys.ofId(stored.client_id);
      if (stored === undefined || key === undefined)
        issue('subscriptionId', 'is not a subscription of this site: leave it out');
      else if (seen.has(id)) issue('subscriptionId', 'is in the file twice');
      else if (apiKey !== undefined && named?.clientId !== stored.client_id)
        issue('apiKey', `must be ${JSON.stringify(key.name)}: a subscription cannot move to another API key`);
      else if ('type' in body && body['type'] !== stored.type)
        issue('type', `must be ${stored.type}: create another subscription for another type`);
      else if ('filter' in body && body['filter'] !== stored.filter)
        issue('filter', 'cannot change: create another subscription for another filter');
      else matched.push({ at, key, stored, body });
      seen.add(id);
      continue;
    }
    const key = named;
    const { data: found, issues: unclear } = parseMembers(FOUND_BY, body, 'the subscription');
    const { success, data } = FOUND_BY.safeParse(found);
    issues.push(...under(at, unclear));
    if (key === undefined)
      issue('apiKey', apiKey === undefined ? 'is required' : 'is not the name of one API key of the file or the site');
    if (key === undefined || !success) continue;
    const tuple = tupleOf(key.clientId, data.type, data.filter, data.endpoint);
    const [stored = null, ...others] = byTuple.get(tuple) ?? [];
    if (!copy && (others.length > 0 || seen.has(tuple))) {
      issue('subscriptionId', 'is required: several subscriptions have this API key, type, filter and address');
      continue;
    }
    seen.add(tuple);
    // The copy of several equal subscriptions: each is another one.
    if (copy) byTuple.set(tuple, others);
    matched.push({ at, key, stored, body });
  }
  return { matched, issues };
}
