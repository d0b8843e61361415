-- Returns the facts from which alerts are decided (edge/alerts/facts.ts): counts, times and ids of the gateway. It
-- covers all sites, so it has the owner's rights. The column kinds has a member for each kind of alert whose facts are
-- in the database (edge/alert-kinds.ts). It notes when each signing key was first seen. Times are milliseconds since
-- the epoch, by the database's clock.
create or replace function alert_facts(p_kids text[]) returns json
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into signing_key_seen (kid) select k from unnest(p_kids) k on conflict do nothing;
  return json_build_object(
    'now', floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    'kinds', json_build_object(
      'feed-silent', (select coalesce(json_agg(x), '[]') from (
        select k.site_id as site, k.client_id as subject, k.silent_after_minutes as "afterMinutes", k.silent_hours as hours,
               k.silent_days as days, s.time_zone as zone,
               floor(extract(epoch from greatest(k.updated_at,
                 (select max(f.last_at) from feed f where f.site_id = k.site_id and f.client_id = k.client_id))) * 1000) as since,
               (select floor(extract(epoch from max(f.last_at)) * 1000) from feed f
                 where f.site_id = k.site_id and f.client_id = k.client_id) as "lastAt"
          from api_key k join site s on s.site_id = k.site_id
         where k.status = 'active' and k.silent_after_minutes is not null) x),
      'error-rate', (select coalesce(json_agg(x), '[]') from (
        select u.site_id as site, u.surface as subject, s.alert_error_percent as percent, sum(u.requests) as requests,
               coalesce(sum(u.requests) filter (where u.outcome <> 'ok'), 0) as errors
          from site s join usage u on u.site_id = s.site_id and u.bucket > clock_timestamp() - interval '30 minutes'
         where s.alert_error_percent is not null group by u.site_id, u.surface, s.alert_error_percent) x),
      'sidecar-silent', (select coalesce(json_agg(x), '[]') from (
        select k.site_id as site, c.issuer as subject, floor(extract(epoch from c.last_seen) * 1000) as "lastAt"
          from sidecar_seen c
         cross join (select distinct a.site_id from api_key a where a.status = 'active' and 'hl7-mllp' = any (a.protocols)) k
         where c.last_seen > clock_timestamp() - interval '7 days') x),
      'signing-key-old', (select coalesce(json_agg(x), '[]') from (
        select k.kid as subject, floor(extract(epoch from k.first_seen) * 1000) as "firstSeen"
          from signing_key_seen k where k.kid = any (p_kids)) x),
      'jwks-uri-failing', (select coalesce(json_agg(x), '[]') from (
        select r.site_id as site, r.client_id as subject, sum(r.requests) as failures
          from api_key k join refusal r on r.site_id = k.site_id and r.client_id = k.client_id
           and r.surface = 'token' and r.code = 'jwks_uri'
           and r.since >= greatest(k.updated_at, clock_timestamp() - interval '45 minutes')
           and r.last_at > clock_timestamp() - interval '30 minutes'
         where k.status = 'active' and k.jwks_uri is not null group by r.site_id, r.client_id
        -- A signature soon after may have been checked with keys that another process had kept; one this late was not.
        having not exists (
          select from key_kid i where i.site_id = r.site_id and i.client_id = r.client_id
             and i.last_at > max(r.last_at) + interval '5 minutes')) x),
      'replay-needed', (select coalesce(json_agg(x), '[]') from (
        select m.site_id as site, '' as subject, least(count(*), 1000) as messages from hl7_message m
         where m.has_failed and m.received_at < clock_timestamp() - interval '15 minutes' group by m.site_id) x),
      -- A volatile clock would be compared with each message of the key.
      'messages-ignored', (select coalesce(json_agg(x), '[]') from (
        select k.site_id as site, k.client_id as subject, count(*) as messages, count(*) filter (where m.is_ignored) as ignored
          from api_key k
         cross join lateral (
           select strpos(m.errors::text, '"rule-ignored"') > 0 as is_ignored from hl7_message m
            where m.site_id = k.site_id and m.client_id = k.client_id and m.received_at > now() - interval '30 minutes'
            order by m.received_at desc, m.message_id desc limit 1000) m
         where k.status = 'active' and k.hl7_rules is not null group by k.site_id, k.client_id) x),
      -- A position above every transaction id is of another server (change_recover). Numbered changes that no runner compares with
      -- the filters stall too.
      'changes-stalled', (select coalesce(json_agg(x), '[]') from (
        select p.site_id as site, '' as subject,
               floor(extract(epoch from coalesce(least(w.since, u.since), p.reached)) * 1000) as since
          from change_position p
         cross join lateral (
           select min(v.last_updated) as since from (
             (select r.last_updated from resource r where r.site_id = p.site_id and r.written_by >= p.below
               order by r.written_by limit 1)
             union all
             (select h.last_updated from resource_history h where h.site_id = p.site_id and h.written_by >= p.below
               order by h.written_by limit 1)) v) w
         cross join lateral (
           select min(greatest(c.reached, s.at)) as since
             from (select coalesce(x.matched, p.matched) as matched,
                          min(case when x.matched is null then p.matched_at else x.matched_at end) as at
                     from subscription x
                    where x.site_id = p.site_id and (x.status <> 'error' or x.last_answer <> 'filter') group by 1) s
             join change c on c.site_id = p.site_id and c.number = s.matched + 1) u
         where exists (select from job j where j.kind = 'changes' and j.state = 'open')
           and (w.since is not null or u.since is not null or p.below > pg_snapshot_xmax(pg_current_snapshot())::text::bigint)) x),
      'subscription-failing', (select coalesce(json_agg(x), '[]') from (
        select s.site_id as site, s.client_id as subject, count(*) as subscriptions,
               floor(extract(epoch from min(coalesce(s.failing_since, w.since, s.matched_at))) * 1000) as since
          from subscription s
         -- Behind although nothing failed: the receiver is slow. Not soon after a pause, or a start at an export.
         cross join lateral (
           select case when s.status in ('requested', 'active') and s.delivered < s.last_event
                            and s.restarted_at < clock_timestamp() - interval '1 hour'
                       then subscription_waiting_since(s.site_id, s.subscription_id, s.delivered) end as since) w
         where (s.status = 'error' or s.status <> 'off' and s.failing_since < clock_timestamp() - interval '1 hour'
             or w.since < clock_timestamp() - interval '1 hour')
           and (s.ends_at is null or s.ends_at > clock_timestamp())
           and exists (select from job j where j.kind = 'changes' and j.state = 'open')
         group by s.site_id, s.client_id) x)),
    'alerts', (select coalesce(json_agg(x), '[]') from (
      select a.site_id as site, a.alert_id as id, a.kind, a.subject, a.times, a.notified,
             floor(extract(epoch from a.firing_since) * 1000) as "firingSince",
             floor(extract(epoch from a.clear_since) * 1000) as "clearSince",
             floor(extract(epoch from a.resolved_at) * 1000) as "resolvedAt",
             floor(extract(epoch from a.notified_at) * 1000) as "notifiedAt",
             a.acknowledged_at is not null as "isAcknowledged"
        from alert a where a.resolved_at is null or a.resolved_at > clock_timestamp() - interval '1 hour') x),
    'silences', (select coalesce(json_agg(x), '[]') from (
      select m.site_id as site, m.kind, m.subject from alert_silence m
       where m.until is null or m.until > clock_timestamp()) x),
    'sites', (select coalesce(json_agg(x), '[]') from (
      select s.site_id as site, s.alert_webhook is not null as "hasWebhook" from site s) x));
end $$;
