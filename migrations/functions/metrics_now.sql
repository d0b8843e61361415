-- Returns the data of /metrics: counts and times, and only those names that are ids of the gateway. It covers all
-- sites, so it has the owner's rights. The one row has lists with p_limit entries each at most, and their total numbers
-- (edge/metrics/families.ts).
--   - usage: [{ site, surface, outcome, durationMs, latency: [n] }].
--   - answers: [{ site, surface, answer, answers }].
--   - feeds: [{ site, clientId, surface, at }] of active keys.
--   - failed: [{ site, messages }] that wait for people.
--   - sidecars: [{ name, at }] of the last seven days.
--   - jobs: [{ kind, open, failed, dueSeconds }]. Failed jobs are those of the last day. The oldest job has waited
--     dueSeconds.
--   - alerts: [{ site, kind, state, alerts }] that are not resolved.
--   - signingKeys: [{ kid, at }] of p_kids: first signature.
--
-- Times are seconds since the epoch.
create or replace function metrics_now(p_limit integer, p_kids text[]) returns table (usage json, answers json, feeds json,
  failed json, sidecars json, jobs json, alerts json, signing_keys json, counted json)
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select
    (select coalesce(json_agg(x), '[]') from (
      select u.site_id as site, u.surface, u.outcome, u.duration_ms as "durationMs", u.latency
        from usage_total u order by u.site_id, u.surface, u.outcome limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select a.site_id as site, a.surface, a.answer, a.answers
        from answer_total a order by a.site_id, a.surface, a.answer limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select f.site_id as site, f.client_id as "clientId", f.surface, extract(epoch from max(f.last_at)) as at
        from feed f join api_key k on k.site_id = f.site_id and k.client_id = f.client_id and k.status = 'active'
       group by f.site_id, f.client_id, f.surface order by f.site_id, f.client_id, f.surface limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select m.site_id as site, count(*) as messages from hl7_message m where m.has_failed
       group by m.site_id order by m.site_id limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select s.issuer as name, extract(epoch from s.last_seen) as at from sidecar_seen s
       where s.last_seen > clock_timestamp() - interval '7 days' order by s.issuer limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select j.kind, count(*) filter (where j.state = 'open') as open,
             count(*) filter (where j.state = 'failed') as failed,
             greatest(0, coalesce(extract(epoch from clock_timestamp() - min(j.run_after)
               filter (where j.state = 'open')), 0)) as "dueSeconds"
        from job j where j.state = 'open' or (j.state = 'failed' and j.ended_at > clock_timestamp() - interval '1 day')
       group by j.kind order by j.kind limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select a.site_id as site, a.kind, s.state, count(*) as alerts
        from alert a
       cross join lateral (select case
         when exists (select from alert_silence m where m.site_id = a.site_id and m.kind = a.kind and m.subject = a.subject
                         and (m.until is null or m.until > clock_timestamp())) then 'silenced'
         when a.acknowledged_at is not null then 'acknowledged' else 'firing' end as state) s
       where a.resolved_at is null group by a.site_id, a.kind, s.state order by a.site_id, a.kind, s.state limit p_limit) x),
    (select coalesce(json_agg(x), '[]') from (
      select k.kid, extract(epoch from k.first_seen) as at from signing_key_seen k where k.kid = any (p_kids)
       order by k.kid limit p_limit) x),
    (select json_build_object(
      'usage', (select count(*) from usage_total), 'answers', (select count(*) from answer_total),
      'feeds', (select count(*) from (select from feed f group by f.site_id, f.client_id, f.surface) x)))
$$;
