/** Alerts as staff see them, and what they do about them. */
import type { Query } from '../deps.ts';
import type { AlertKind } from './alert.ts';
import { instantOf, instantsOf, raw, read, sql } from './sql.ts';

export const ALERT_STATES = ['open', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

export interface AlertRow {
  readonly alert_id: string;
  readonly kind: AlertKind;
  readonly subject: string;
  /** What people call an API key that it is about. */
  readonly key_name: string | null;
  readonly opened_at: string;
  /** To the microsecond: where the next page begins. */
  readonly place: string;
  readonly clear_since: string | null;
  readonly resolved_at: string | null;
  readonly times: number;
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  readonly is_muted: boolean;
  readonly muted_until: string | null;
  readonly muted_by: string | null;
  /** Of the newest notice: an HTTP status, or a word of ours; null where none was tried. */
  readonly last_answer: string | null;
  readonly attempts: number | null;
  readonly delivered_at: string | null;
  readonly given_up_at: string | null;
}

const MUTED = '(m.until is null or m.until > now())';

/** The newest first. @param after `place` and id of the last one before */
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

/** Somebody is at it; whoever said so first stays. No row: the site has no such alert that is open. */
export function acknowledgeAlert(site: string, id: string, by: string): Query<Done> {
  return sql<Done>`with done as (
      update alert set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, ${by})
       where site_id = ${site}::uuid and alert_id = ${id}::uuid and resolved_at is null returning alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array['alert-acknowledged Alert ' || d.alert_id]) as noted) n where n.noted`;
}

/** What the alert is about is told to nobody. @param minutes null: until somebody ends it */
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
      select audit_note(array['alert-muted Alert ' || o.alert_id]) as noted) n where n.noted`;
}

/** It is told again. No row: the site has no such alert, or it was not muted. */
export function unmuteAlert(site: string, id: string): Query<Done> {
  return sql<Done>`with done as (
      delete from alert_mute m using alert a
       where a.site_id = ${site}::uuid and a.alert_id = ${id}::uuid and m.site_id = a.site_id and m.kind = a.kind
         and m.subject = a.subject returning a.alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array['alert-unmuted Alert ' || d.alert_id]) as noted) n where n.noted`;
}

/** An alert that nobody is at yet. */
export interface OpenAlertRow {
  readonly kind: AlertKind;
  readonly subject: string;
  /** What people call an API key that it is about. */
  readonly key_name: string | null;
  readonly opened_at: string;
  /** How many there are, also those that are not among the rows. */
  readonly total: number;
}

/** What is open that nobody has acknowledged or muted, the newest first: for a banner, some of them and how many there are. */
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
