/** The alerts of a site: listed, acknowledged and silenced by staff. */
import type { AlertKind } from '../alert-kinds.ts';
import type { Query } from '../deps.ts';
import { instantOf, instantsOf, raw, read, sql } from './sql.ts';

export const ALERT_STATES = ['open', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

export interface AlertRow {
  readonly alert_id: string;
  readonly kind: AlertKind;
  readonly subject: string;
  /** The name of the API key that is its subject. */
  readonly key_name: string | null;
  readonly opened_at: string;
  /** `opened_at` with microseconds, for the cursor. */
  readonly place: string;
  readonly clear_since: string | null;
  readonly resolved_at: string | null;
  readonly times: number;
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  readonly is_muted: boolean;
  readonly muted_until: string | null;
  readonly muted_by: string | null;
  /** The answer of the newest notice: an HTTP status or a code of the gateway; null before the first attempt. */
  readonly last_answer: string | null;
  readonly attempts: number | null;
  readonly delivered_at: string | null;
  readonly given_up_at: string | null;
}

const MUTED = '(m.until is null or m.until > now())';

/** The newest first. @param after `place` and id of the last alert of the page before */
export function listAlerts(
  site: string,
  state: AlertState,
  after: readonly string[] | null,
  limit: number,
): Query<AlertRow> {
  return read<AlertRow>`select a.alert_id, a.kind, a.subject, k.name as key_name, a.times, a.acknowledged_by,
      ${raw(instantsOf(['a.opened_at', 'a.clear_since', 'a.resolved_at', 'a.acknowledged_at', 'n.delivered_at', 'n.given_up_at']))},
      ${raw(instantOf('a.opened_at', 'microsecond'))} as place, m.kind is not null as is_muted,
      ${raw(instantOf('m.until'))} as muted_until, m.muted_by, n.last_answer, n.attempts
    from alert a
    left join api_key k on k.site_id = a.site_id and k.client_id = a.subject
    left join alert_mute m on m.site_id = a.site_id and m.kind = a.kind and m.subject = a.subject and ${raw(MUTED)}
    left join lateral (select * from alert_notice x where x.site_id = a.site_id and x.alert_id = a.alert_id
                        order by x.at desc, x.notice_id desc limit 1) n on true
   where a.site_id = ${site}::uuid and (a.resolved_at is null) = (${state} = 'open')
     and (${after?.[0] ?? null}::timestamptz is null
       or (a.opened_at, a.alert_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
   order by a.opened_at desc, a.alert_id desc limit ${limit}::int`;
}

export interface Done {
  readonly alert_id: string;
}

/** The first acknowledgement stays. No row: the site has no such open alert. */
export function acknowledgeAlert(site: string, id: string, by: string): Query<Done> {
  return sql<Done>`with done as (
      update alert set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, ${by})
       where site_id = ${site}::uuid and alert_id = ${id}::uuid and resolved_at is null returning alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array[row('alert-acknowledged', 'Alert', d.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** Silences the kind and subject of an alert. @param minutes null for no end */
export function muteAlert(site: string, id: string, minutes: number | null, by: string): Query<Done> {
  return sql<Done>`with of as (
      select a.alert_id, a.kind, a.subject from alert a where a.site_id = ${site}::uuid and a.alert_id = ${id}::uuid
    ), done as (
      insert into alert_mute (site_id, kind, subject, until, muted_by)
        select ${site}::uuid, o.kind, o.subject, now() + make_interval(mins => ${minutes}::int), ${by} from of o
        on conflict (site_id, kind, subject) do update
          set until = excluded.until, muted_at = now(), muted_by = excluded.muted_by
        returning kind)
    select o.alert_id from of o cross join done cross join lateral (
      select audit_note(array[row('alert-muted', 'Alert', o.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** No row: the site has no such alert, or it is not silenced. */
export function unmuteAlert(site: string, id: string): Query<Done> {
  return sql<Done>`with done as (
      delete from alert_mute m using alert a
       where a.site_id = ${site}::uuid and a.alert_id = ${id}::uuid and m.site_id = a.site_id and m.kind = a.kind
         and m.subject = a.subject returning a.alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array[row('alert-unmuted', 'Alert', d.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** An open alert that is neither acknowledged nor silenced. */
export interface OpenAlertRow {
  readonly kind: AlertKind;
  readonly subject: string;
  /** The name of the API key that is its subject. */
  readonly key_name: string | null;
  readonly opened_at: string;
  /** The number of such alerts, also of those beyond the limit. */
  readonly total: number;
}

/** The newest first. */
export function openAlerts(site: string, limit = 5): Query<OpenAlertRow> {
  return read<OpenAlertRow>`select a.kind, a.subject, k.name as key_name, ${raw(instantOf('a.opened_at'))} as opened_at,
      count(*) over ()::int as total
    from alert a
    left join api_key k on k.site_id = a.site_id and k.client_id = a.subject
   where a.site_id = ${site}::uuid and a.resolved_at is null and a.acknowledged_at is null
     and not exists (select from alert_mute m where m.site_id = a.site_id and m.kind = a.kind and m.subject = a.subject
                        and ${raw(MUTED)})
   order by a.opened_at desc, a.alert_id desc limit ${limit}::int`;
}

export function webhookOf(site: string): Query<{ readonly url: string | null }> {
  return read<{ url: string | null }>`select alert_webhook as url from site where site_id = ${site}::uuid`;
}
