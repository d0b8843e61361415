-- Writes alerts and notices (edge/alerts/transition.ts) with the owner's rights, because it covers all sites.
--   - p_alerts: new and changed alerts without their acknowledgement.
--   - p_notices: [{ site, id, alertId, state, at }].
--
-- Times are milliseconds since the epoch. Without numbers, an alert keeps its earlier ones. An alert that fires again is no longer acknowledged. Each call deletes some
-- alerts that were resolved 400 days ago.
create or replace function alert_write(p_alerts json, p_notices json) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into alert as a (site_id, alert_id, kind, subject, firing_since, clear_since, resolved_at, times, notified, notified_at,
    numbers)
    select x.site, x.id, x.kind, x.subject, to_timestamp(x."firingSince" / 1000.0), to_timestamp(x."clearSince" / 1000.0),
           to_timestamp(x."resolvedAt" / 1000.0), x.times, x.notified, to_timestamp(x."notifiedAt" / 1000.0), x.numbers
      from json_to_recordset(p_alerts) as x(site uuid, id uuid, kind text, subject text, "firingSince" bigint,
        "clearSince" bigint, "resolvedAt" bigint, times integer, notified text, "notifiedAt" bigint, numbers jsonb)
    on conflict (site_id, alert_id) do update
      set firing_since = excluded.firing_since, clear_since = excluded.clear_since, resolved_at = excluded.resolved_at,
          numbers = coalesce(excluded.numbers, a.numbers), times = excluded.times, notified = excluded.notified, notified_at = excluded.notified_at,
          acknowledged_at = case when excluded.times = a.times then a.acknowledged_at end,
          acknowledged_by = case when excluded.times = a.times then a.acknowledged_by end;
  insert into alert_notice (site_id, notice_id, alert_id, state, at, next_at)
    select x.site, x.id, x."alertId", x.state, to_timestamp(x.at / 1000.0), clock_timestamp()
      from json_to_recordset(p_notices) as x(site uuid, id uuid, "alertId" uuid, state text, at bigint);
  delete from alert a where (a.site_id, a.alert_id) in (
    select o.site_id, o.alert_id from alert o where o.resolved_at < clock_timestamp() - interval '400 days'
     order by o.resolved_at limit 100);
end $$;
