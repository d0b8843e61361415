/** The subscriptions of a site, as staff see and change them. */
import type { Query } from '../deps.ts';
import { instantOf, instantsOf, raw, read, sql } from './sql.ts';
import type { AskedSubscription, SubscriptionStatus } from './subscription.ts';

export interface AdminSubscriptionRow extends AskedSubscription {
  readonly client_id: string;
  readonly key_name: string;
  readonly host: string;
  /** Sealed; null: none. */
  readonly headers: string | null;
  readonly since: string | null;
  /** `off` also after its end. */
  readonly status: SubscriptionStatus;
  readonly has_ended: boolean;
  /** As `subscription_refusal`. */
  readonly refusal: 'key' | 'scope' | 'host' | 'off' | null;
  readonly last_event: string;
  readonly delivered: string;
  /** Changes of the feed that are not compared with the filter yet. */
  readonly uncompared: string;
  /** The time of the first event that is not delivered. */
  readonly waiting_since: string | null;
  readonly waiting_seconds: number | null;
  readonly hour_events: string;
  readonly day_events: string;
  readonly is_posting: boolean;
  readonly attempts: number;
  readonly failing_since: string | null;
  readonly next_at: string;
  readonly last_answer: string | null;
  readonly tried_at: string | null;
  readonly delivered_at: string | null;
  readonly version: number;
  readonly updated_at: string;
}

export interface SubscriptionFilter {
  /** One subscription; null for all. */
  readonly id: string | null;
  /** Empty for all. */
  readonly clientId: string;
  /** Empty for all. */
  readonly status: SubscriptionStatus | '';
}

const ENDED = 'coalesce(s.ends_at <= clock_timestamp(), false)';
const STATUS = `case when ${ENDED} then 'off' else s.status end`;

/** The newest first. @param before the id of the last subscription of the page before */
export const listSubscriptions = (
  site: string,
  { id, clientId, status }: SubscriptionFilter,
  before: string | null,
  limit: number,
): Query<AdminSubscriptionRow> =>
  read<AdminSubscriptionRow>`select s.subscription_id, s.client_id, k.name as key_name, s.type, s.filter, s.payload, s.endpoint, s.host, s.headers, s.reason,
      s.heartbeat_seconds, s.max_count, ${raw(STATUS)} as status, ${raw(ENDED)} as has_ended,
      subscription_refusal(s.site_id, s.subscription_id) as refusal, s.last_event::text as last_event,
      s.delivered::text as delivered, greatest(coalesce(p.last_number - coalesce(s.matched, p.matched), 0), 0)::text as uncompared,
      ${raw(instantOf('w.since'))} as waiting_since,
      greatest(extract(epoch from clock_timestamp() - w.since), 0)::int as waiting_seconds,
      u.hour_events::text as hour_events, u.day_events::text as day_events,
      coalesce(s.lease_until > clock_timestamp(), false) as is_posting, s.attempts, s.last_answer, s.version,
      ${raw(
        instantsOf([
          's.ends_at',
          's.since',
          's.failing_since',
          's.next_at',
          's.tried_at',
          's.delivered_at',
          's.updated_at',
        ]),
      )}
    from subscription s
    join api_key k on k.site_id = s.site_id and k.client_id = s.client_id
    left join change_position p on p.site_id = s.site_id
   cross join lateral (select subscription_waiting_since(s.site_id, s.subscription_id, s.delivered) as since) w
   cross join lateral (
     select coalesce(sum(x.events) filter (where x.bucket > clock_timestamp() - interval '1 hour'), 0) as hour_events,
            coalesce(sum(x.events), 0) as day_events
       from subscription_usage x
      where x.site_id = s.site_id and x.subscription_id = s.subscription_id
        and x.bucket > clock_timestamp() - interval '1 day') u
   where s.site_id = ${site}::uuid and (${id}::uuid is null or s.subscription_id = ${id}::uuid)
     and (${clientId} = '' or s.client_id = ${clientId}) and (${status} = '' or ${raw(STATUS)} = ${status})
     and (${before}::uuid is null or s.subscription_id < ${before}::uuid)
   order by s.subscription_id desc limit ${limit}::int`;

export interface SiteSubscriptionRow extends AskedSubscription {
  readonly client_id: string;
  readonly is_paused: boolean;
  readonly has_headers: boolean;
  readonly version: number;
}

/** The subscriptions of a site as they were set, without their delivery. */
export const siteSubscriptions = (site: string, limit: number): Query<SiteSubscriptionRow> =>
  read<SiteSubscriptionRow>`select s.subscription_id, s.client_id, s.type, s.filter, s.payload, s.endpoint, s.reason,
      s.heartbeat_seconds, s.max_count, s.status = 'off' as is_paused, s.headers is not null as has_headers, s.version, ${raw(instantsOf(['s.ends_at']))}
    from subscription s join api_key k on k.site_id = s.site_id and k.client_id = s.client_id
   where s.site_id = ${site}::uuid
   order by lower(k.name), k.name, k.created_at, s.type, s.filter, s.endpoint, s.subscription_id limit ${limit}::int`;

export type SubscriptionChange = 'pause' | 'resume' | 'resend';

export type SwitchOutcome = 'done' | 'missing' | 'key' | 'scope' | 'host' | 'ended' | 'event';

/** @param from the first event to send again */
export const switchSubscription = (
  site: string,
  id: string,
  change: SubscriptionChange,
  from: number | null,
): Query<{ readonly outcome: SwitchOutcome }> =>
  sql<{
    outcome: SwitchOutcome;
  }>`select outcome from subscription_switch(${site}::uuid, ${id}::uuid, ${change}, ${from}::bigint)`;

export interface SubscribingKeyRow {
  readonly client_id: string;
  readonly name: string;
}

/** The API keys that may have subscriptions, by name. */
export const subscribingKeys = (site: string): Query<SubscribingKeyRow> =>
  read<SubscribingKeyRow>`select client_id, name from api_key
    where site_id = ${site}::uuid and status = 'active' and 'fhir' = any (protocols) and subscription_hosts <> '{}'
    order by lower(name), client_id limit 500`;
