/** The alerts of a site: listed, acknowledged and silenced by staff. */
import type { AlertKind } from '../alert-kinds.ts';
import type { Query } from '../deps.ts';
import { instantOf, instantsOf, raw, read, sql } from './sql.ts';

export const ALERT_STATES = ['firing', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

export interface AlertRow {
  readonly alert_id: string;
  readonly kind: AlertKind;
  readonly subject: string;
  /** The name of the API key that is its subject. */
  readonly key_name: string | null;
  readonly firing_since: string;
  /** `firing_since` with microseconds, for the cursor. */
  readonly place: string;
  readonly clear_since: string | null;
  readonly resolved_at: string | null;
  readonly times: number;
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  readonly is_silenced: boolean;
  readonly silenced_until: string | null;
  readonly silenced_by: string | null;
  /** The answer of the newest notice: an HTTP status or a code of the gateway; null before the first attempt. */
  readonly last_answer: string | null;
  readonly attempts: number | null;
  readonly delivered_at: string | null;
  readonly given_up_at: string | null;
  /** JSON: the numbers of its cause when it fired; null for an alert without numbers. */
  readonly numbers: string | null;
}

const SILENCED = '(m.until is null or m.until > now())';

/** The newest first. @param after `place` and id of the last alert of the page before */
export function listAlerts(
  site: string,
  state: AlertState,
  after: readonly string[] | null,
  limit: number,
): Query<AlertRow> {
  return read<AlertRow>`select a.alert_id, a.kind, a.subject, k.name as key_name, a.times, a.acknowledged_by,
      ${raw(instantsOf(['a.firing_since', 'a.clear_since', 'a.resolved_at', 'a.acknowledged_at', 'n.delivered_at', 'n.given_up_at']))},
      ${raw(instantOf('a.firing_since', 'microsecond'))} as place, m.kind is not null as is_silenced,
      ${raw(instantOf('m.until'))} as silenced_until, m.silenced_by, n.last_answer, n.attempts,
      a.numbers::text as numbers
    from alert a
    left join api_key k on k.site_id = a.site_id and k.client_id = a.subject
    left join alert_silence m on m.site_id = a.site_id and m.kind = a.kind and m.subject = a.subject and ${raw(SILENCED)}
    left join lateral (select * from alert_notice x where x.site_id = a.site_id and x.alert_id = a.alert_id
                        order by x.at desc, x.notice_id desc limit 1) n on true
   where a.site_id = ${site}::uuid and (a.resolved_at is null) = (${state} = 'firing')
     and (${after?.[0] ?? null}::timestamptz is null
       or (a.firing_since, a.alert_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
   order by a.firing_since desc, a.alert_id desc limit ${limit}::int`;
}

export interface Done {
  readonly alert_id: string;
}

/** The first acknowledgement stays. No row: the site has no such firing alert. */
export function acknowledgeAlert(site: string, id: string, by: string): Query<Done> {
  return sql<Done>`with done as (
      update alert set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, ${by})
       where site_id = ${site}::uuid and alert_id = ${id}::uuid and resolved_at is null returning alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array[row('alert-acknowledged', 'Alert', d.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** Silences the kind and subject of an alert. @param minutes null for no end */
export function silenceAlert(site: string, id: string, minutes: number | null, by: string): Query<Done> {
  return sql<Done>`with of as (
      select a.alert_id, a.kind, a.subject from alert a where a.site_id = ${site}::uuid and a.alert_id = ${id}::uuid
    ), done as (
      insert into alert_silence (site_id, kind, subject, until, silenced_by)
        select ${site}::uuid, o.kind, o.subject, now() + make_interval(mins => ${minutes}::int), ${by} from of o
        on conflict (site_id, kind, subject) do update
          set until = excluded.until, silenced_at = now(), silenced_by = excluded.silenced_by
        returning kind)
    select o.alert_id from of o cross join done cross join lateral (
      select audit_note(array[row('alert-silenced', 'Alert', o.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** No row: the site has no such alert, or it is not silenced. */
export function unsilenceAlert(site: string, id: string): Query<Done> {
  return sql<Done>`with done as (
      delete from alert_silence m using alert a
       where a.site_id = ${site}::uuid and a.alert_id = ${id}::uuid and m.site_id = a.site_id and m.kind = a.kind
         and m.subject = a.subject returning a.alert_id)
    select d.alert_id from done d cross join lateral (
      select audit_note(array[row('alert-unsilenced', 'Alert', d.alert_id, null)::audit_item]) as noted) n where n.noted`;
}

/** A firing alert that is neither acknowledged nor silenced. */
export interface UnhandledAlertRow {
  readonly kind: AlertKind;
  readonly subject: string;
  /** The name of the API key that is its subject. */
  readonly key_name: string | null;
  readonly firing_since: string;
  /** The number of such alerts, also of those beyond the limit. */
  readonly total: number;
}

/** The newest first. */
export function unhandledAlerts(site: string, limit = 5): Query<UnhandledAlertRow> {
  return read<UnhandledAlertRow>`select a.kind, a.subject, k.name as key_name, ${raw(instantOf('a.firing_since'))} as firing_since,
      count(*) over ()::int as total
    from alert a
    left join api_key k on k.site_id = a.site_id and k.client_id = a.subject
   where a.site_id = ${site}::uuid and a.resolved_at is null and a.acknowledged_at is null
     and not exists (select from alert_silence m where m.site_id = a.site_id and m.kind = a.kind and m.subject = a.subject
                        and ${raw(SILENCED)})
   order by a.firing_since desc, a.alert_id desc limit ${limit}::int`;
}

export function webhookOf(site: string): Query<{ readonly url: string | null }> {
  return read<{ url: string | null }>`select alert_webhook as url from site where site_id = ${site}::uuid`;
}
