/** Subscriptions and their events (migrations/functions/subscription_*.sql). */
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { instantsOf, raw, read, sql } from './sql.ts';

export const PAYLOADS = ['id-only', 'full-resource'] as const;
type Payload = (typeof PAYLOADS)[number];

/** As FHIR R4 names it. */
export const SUBSCRIPTION_STATUSES = ['requested', 'active', 'error', 'off'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const MAX_SUBSCRIPTIONS_OF_KEY = 100;
/** Events of one notification. */
export const MAX_EVENTS = 100;
/** A heartbeat is noticed by the minute's job. */
export const MIN_HEARTBEAT_SECONDS = 60;
export const MAX_HEARTBEAT_SECONDS = 86_400;
/** Characters of a reason, a filter or an endpoint. */
export const MAX_SUBSCRIPTION_TEXT = 1000;

export interface SubscriptionRecord {
  readonly type: ResourceType;
  /** A search without its type; `''` for every resource of the type. */
  readonly filter: string;
  readonly payload: Payload;
  readonly endpoint: string;
  readonly host: string;
  readonly reason: string;
  readonly heartbeatSeconds: number | null;
  /** Events of one notification. */
  readonly maxCount: number;
  /** Instant. */
  readonly endsAt: string | null;
  readonly status: 'requested' | 'off';
  /** Sealed. Null: an update keeps those that it has, unless the host changes. */
  readonly headers: string | null;
}

export interface SubscriptionKey {
  readonly site: string;
  readonly clientId: string;
  readonly id: string;
}

export type SubscriptionWritten = 'created' | 'updated' | 'host' | 'many' | 'since' | 'missing' | 'version' | 'other';

/**
 * @param since for a new subscription: only versions after this instant; null: those that follow
 * @param ifVersions the versions that may be changed; null: any
 */
export const writeSubscription = (
  { site, clientId, id }: SubscriptionKey,
  isNew: boolean,
  record: SubscriptionRecord,
  since: string | null,
  ifVersions: readonly number[] | null = null,
): Query<{ readonly outcome: SubscriptionWritten }> =>
  sql<{ outcome: SubscriptionWritten }>`select outcome from subscription_write(${site}::uuid, ${clientId}, ${id}::uuid,
      ${isNew}, ${JSON.stringify({ ...record, ifVersions })}::json, ${since}::timestamptz, ${MAX_SUBSCRIPTIONS_OF_KEY})`;

/** The topic, filter and endpoint of a subscription, as rows name them. */
export interface AskedSubscription {
  readonly subscription_id: string;
  readonly type: ResourceType;
  readonly filter: string;
  readonly payload: Payload;
  readonly endpoint: string;
  readonly reason: string;
  readonly heartbeat_seconds: number | null;
  readonly max_count: number;
  readonly ends_at: string | null;
}

export interface SubscriptionRow extends AskedSubscription {
  readonly since: string | null;
  readonly status: SubscriptionStatus;
  readonly last_event: string;
  readonly delivered: string;
  readonly last_answer: string | null;
  /** Posts that failed since the last accepted one. */
  readonly attempts: number;
  readonly version: number;
  readonly updated_at: string;
}

const COLUMNS = raw(
  `subscription_id, type, filter, payload, endpoint, reason, heartbeat_seconds, max_count, last_answer, attempts,
   case when ends_at <= clock_timestamp() then 'off' else status end as status, version,
   last_event::text as last_event, delivered::text as delivered, ${instantsOf(['ends_at', 'since', 'updated_at'])}`,
);

/** One subscription of a key, or all of them. */
export const findSubscriptions = (site: string, clientId: string, id: string | null): Query<SubscriptionRow> =>
  read<SubscriptionRow>`select ${COLUMNS} from subscription s
     where s.site_id = ${site}::uuid and s.client_id = ${clientId}
       and (${id}::uuid is null or s.subscription_id = ${id}::uuid) order by s.subscription_id`;

/** @param clientId null for any API key of the site. @returns no row if there is no such subscription */
export const deleteSubscription = ({
  site,
  clientId,
  id,
}: Omit<SubscriptionKey, 'clientId'> & { readonly clientId: string | null }): Query<{ readonly id: string }> =>
  sql<{ id: string }>`select id from subscription_delete(${site}::uuid, ${clientId}, ${id}::uuid)`;

export interface EventRow {
  readonly event: string;
  readonly type: ResourceType;
  readonly id: string;
  /** Null: the resource was erased. */
  readonly version: number | null;
  /** Null: the version was erased. */
  readonly last_updated: string | null;
  readonly reached: string;
  readonly meta: string | null;
  readonly body: string | null;
}

export interface EventRange extends SubscriptionKey {
  /** Only for a subscription of one of these types; null: only while it may be posted. */
  readonly types: readonly string[] | null;
  /** Only events after this one. With `time`, those before its first event are left out too. */
  readonly after: string;
  /** Instant; null: any. As `firstEvent`. */
  readonly time: string | null;
  readonly upto: string;
  readonly limit: number;
  /** Null: as the subscription. */
  readonly content: Payload | null;
  readonly maxBytes: number;
}

/** Fewer than `limit` where their content is larger than `maxBytes`. */
export const findEvents = (it: EventRange): Query<EventRow> =>
  sql<EventRow>`select event::text as event, type, id, version, last_updated, reached, meta, body
    from subscription_events(${it.site}::uuid, ${it.id}::uuid, ${it.clientId}, ${it.types}::text[],
      greatest(${it.after}::bigint,
        (select f.event - 1 from subscription_first(${it.site}::uuid, ${it.id}::uuid, ${it.clientId}, ${it.time}::timestamptz) f)),
      ${it.upto}::bigint, ${it.limit}::integer, ${it.content}, ${it.maxBytes}::bigint)`;

export interface FirstEventRow {
  readonly event: string;
  /** Instant. */
  readonly starts_at: string;
  readonly is_future: boolean;
}

/** The first event whose change has a time or a later one (migrations/functions/subscription_first.sql). */
export const firstEvent = ({ site, clientId, id }: SubscriptionKey, time: string): Query<FirstEventRow> =>
  read<FirstEventRow>`select event::text as event, ${raw(instantsOf(['starts_at']))}, is_future
    from subscription_first(${site}::uuid, ${id}::uuid, ${clientId}, ${time}::timestamptz)`;

export interface ComparedRow {
  readonly id: string;
  readonly type: ResourceType;
  readonly filter: string;
  /** Instant. */
  readonly since: string | null;
}

export interface NextRow extends Omit<ComparedRow, 'id'> {
  /** The number from which they compare. */
  readonly matched: string;
  readonly last_number: string;
  /** Others are behind too, at another number. */
  readonly has_others: boolean;
  /** The version of the subscriptions without their own number; null: these do not compare now. */
  readonly members: string | null;
  readonly zone: string | null;
  /** Null: no row of a subscription is needed. */
  readonly id: string | null;
  /** It has its own number. */
  readonly is_own: boolean;
}

/**
 * The subscriptions that compare next, without those that the caller knows. All have compared up to one number, which each row has.
 * The number that has waited longest is next, so that a subscription far behind delays no other.
 *
 * @param known the version of the subscriptions without their own number that the caller knows
 */
export const nextCompared = (site: string, known: string | null): Query<NextRow> =>
  read<NextRow>`with p as materialized (
       select c.matched, c.matched_at, c.last_number, c.members from change_position c where c.site_id = ${site}::uuid),
     own as materialized (
       select y.subscription_id, y.type, y.filter, y.since, y.matched, y.matched_at
         from p join subscription y on y.site_id = ${site}::uuid and y.matched < p.last_number
        where y.status <> 'error' or y.last_answer <> 'filter'),
     -- Most often no subscription is behind, and then none is read.
     behind as materialized (
       select p.matched, p.matched_at, p.members from p
        where p.matched < p.last_number
          and exists (select from subscription y where y.site_id = ${site}::uuid and y.matched is null)
       union all
       select o.matched, o.matched_at, null from own o),
     n as materialized (
       select b.matched, exists (select from behind x where x.matched <> b.matched) as has_others,
              (select x.members from behind x where x.matched = b.matched and x.members is not null) as members
         from behind b order by b.matched_at limit 1)
     select n.matched::text as matched, p.last_number::text as last_number, n.has_others, n.members, t.time_zone as zone,
            s.subscription_id as id, s.type, s.filter, s.is_own, ${raw(instantsOf(['s.since']))}
       from n cross join p join site t on t.site_id = ${site}::uuid
       left join lateral (
         select o.subscription_id, o.type, o.filter, o.since, true as is_own from own o where o.matched = n.matched
         union all
         select y.subscription_id, y.type, y.filter, y.since, false from subscription y
          where y.site_id = ${site}::uuid and y.matched is null and n.members <> coalesce(${known}::uuid, gen_random_uuid())) s on true`;

export interface ChangeRow {
  readonly number: string;
  readonly type: ResourceType;
  readonly id: string;
  readonly version: number | null;
  readonly last_updated: string | null;
  readonly meta: string | null;
  readonly body: string | null;
  readonly before_meta: string | null;
  readonly before_body: string | null;
}

/** @param types the types with needed content */
export const changePage = (
  site: string,
  after: string,
  limit: number,
  types: readonly string[],
  maxBytes: number,
): Query<ChangeRow> =>
  read<ChangeRow>`select number::text as number, type, id, version, meta, body, before_meta, before_body,
      ${raw(instantsOf(['last_updated']))}
    from change_page(${site}::uuid, ${after}::bigint, ${limit}::integer, ${types}::text[], ${maxBytes}::bigint)`;

export interface Matched {
  /** The compared subscriptions with their own number. */
  readonly ids: readonly string[];
  readonly from: string;
  readonly upto: string;
  readonly matches: readonly { readonly id: string; readonly numbers: readonly string[] }[];
  /** Their filter cannot be used any more. */
  readonly failed: readonly string[];
}

/** `is_stored` is false if another runner had compared them meanwhile. */
export const storeMatches = (
  site: string,
  { ids, from, upto, matches, failed }: Matched,
): Query<{ readonly is_stored: boolean }> =>
  sql<{ is_stored: boolean }>`select subscription_match(${site}::uuid, ${ids}::uuid[], ${from}::bigint, ${upto}::bigint,
      ${JSON.stringify(matches)}::json, ${failed}::uuid[]) as is_stored`;

export interface ClaimedSubscription {
  readonly subscription_id: string;
  readonly client_id: string;
  readonly type: ResourceType;
  readonly endpoint: string;
  readonly host: string;
  readonly max_count: number;
  readonly status: 'requested' | 'active';
  readonly last_event: string;
  readonly delivered: string;
  /** Sealed; null: none. */
  readonly headers: string | null;
}

export const claimSubscriptions = (
  site: string,
  lease: string,
  seconds: number,
  limit: number,
): Query<ClaimedSubscription> =>
  sql<ClaimedSubscription>`select subscription_id, client_id, type, endpoint, host, max_count, status,
      last_event::text as last_event, delivered::text as delivered, headers
    from subscription_claim(${site}::uuid, ${lease}::uuid, ${seconds}::integer, ${limit}::integer)`;

export interface TriedPost {
  readonly site: string;
  readonly id: string;
  readonly lease: string;
  /** The last event that the receiver has, after an accepted post; null for a handshake too. */
  readonly upto: string | null;
  readonly answer: string;
  readonly isDelivered: boolean;
}

/** Why nothing may be posted now; null: it may. */
export const refusalOf = (site: string, id: string): Query<{ readonly refusal: string | null }> =>
  read<{ refusal: string | null }>`select subscription_refusal(${site}::uuid, ${id}::uuid) as refusal`;

export interface TriedRow {
  readonly status: SubscriptionStatus;
  readonly last_event: string;
  readonly is_released: boolean;
}

/** Ends a claim with events left. The next post of a subscription that was changed meanwhile need not wait any longer. */
export const releaseSubscription = (site: string, id: string, lease: string): Query =>
  sql`update subscription set lease = null, lease_until = null
     where site_id = ${site}::uuid and subscription_id = ${id}::uuid and (lease = ${lease}::uuid or lease is null)`;

/** No row if the lease was lost. */
export const subscriptionTried = (it: TriedPost): Query<TriedRow> =>
  sql<TriedRow>`select status, last_event::text as last_event, is_released
    from subscription_tried(${it.site}::uuid, ${it.id}::uuid, ${it.lease}::uuid, ${it.upto}::bigint, ${it.answer},
      ${it.isDelivered})`;
