-- Adds the counts of one process (edge/store/usage.ts):
--   - p_counts: [{ site, at: milliseconds, surface, outcome, requests, durationMs, latency: [n] }], each outcome once.
--   - p_answers: [{ site, surface, answer, answers }], each once.
--   - p_keys: [{ site, clientId, surface, application, facility, at: milliseconds, accepted, refused, rejected }], each
--     once.
--
-- One process counts for several sites, so the function has the owner's rights. Counts of deleted sites and keys are
-- dropped. Each list is written in the order of its key, so that two processes do not wait for each other.
create or replace function usage_noted(p_counts json, p_answers json, p_keys json) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into usage as u (site_id, bucket, surface, outcome, requests, latency)
    select x.site, date_bin('15 minutes', to_timestamp(x.at / 1000.0), 'epoch'), x.surface, x.outcome, x.requests,
           array(select e::bigint from json_array_elements_text(x.latency) e)
      from json_to_recordset(p_counts) as x(site uuid, at bigint, surface text, outcome text, requests bigint, latency json)
      join site s on s.site_id = x.site
     order by 1, 2, 3, 4
    on conflict (site_id, bucket, surface, outcome) do update
      set requests = u.requests + excluded.requests,
          latency = array(select coalesce(a, 0) + coalesce(b, 0) from unnest(u.latency, excluded.latency) l(a, b));

  insert into usage_total as u (site_id, surface, outcome, duration_ms, latency)
    select x.site, x.surface, x.outcome, x."durationMs",
           array(select e::bigint from json_array_elements_text(x.latency) e)
      from json_to_recordset(p_counts) as x(site uuid, surface text, outcome text, "durationMs" bigint, latency json)
      join site s on s.site_id = x.site
     order by 1, 2, 3
    on conflict (site_id, surface, outcome) do update
      set duration_ms = u.duration_ms + excluded.duration_ms,
          latency = array(select coalesce(a, 0) + coalesce(b, 0) from unnest(u.latency, excluded.latency) l(a, b));

  insert into answer_total as a (site_id, surface, answer, answers)
    select x.site, x.surface, x.answer, x.answers
      from json_to_recordset(p_answers) as x(site uuid, surface text, answer text, answers bigint)
      join site s on s.site_id = x.site
     order by 1, 2, 3
    on conflict (site_id, surface, answer) do update set answers = a.answers + excluded.answers;

  -- Garbage has no sender and is rejected. It makes no feed.
  -- A fast clock must not make a silent feed look alive. A key has twenty senders at most. Messages of more senders,
  -- which no person could distinguish, count for a sender without a name.
  with given as (
    select k.site_id, k.client_id, x.surface, x.application, x.facility, x.accepted, x.refused, x.rejected,
           least(to_timestamp(x.at / 1000.0), clock_timestamp()) as at
      from json_to_recordset(p_keys) as x(site uuid, "clientId" text, surface text, application text, facility text, at bigint,
             accepted bigint, refused bigint, rejected bigint)
      join api_key k on k.site_id = x.site and k.client_id = x."clientId"
  ), known as (
    select g.*, f.client_id is not null as is_there,
           (select count(*) from feed o
             where o.site_id = g.site_id and o.client_id = g.client_id and o.surface = g.surface) as there
      from given g left join feed f using (site_id, client_id, surface, application, facility)
  ), kept as (
    select k.*, k.surface in ('hl7', 'mllp') as is_feed, k.is_there or k.there + row_number() over (
             partition by k.site_id, k.client_id, k.surface, k.is_there order by k.application, k.facility) <= 20 as is_named
      from known k
  ), named as (
    select site_id, client_id, surface, is_feed, case when is_named then application else '' end as application,
           case when is_named then facility else '' end as facility, max(at) as at, sum(accepted) as accepted,
           sum(refused) as refused, sum(rejected) as rejected
      from kept group by 1, 2, 3, 4, 5, 6
  ), counted as (
    insert into key_usage as u (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
      select site_id, client_id, date_bin('15 minutes', at, 'epoch'), surface, application, facility, accepted, refused, rejected
        from named order by 1, 2, 3, 4, 5, 6
      on conflict (site_id, client_id, bucket, surface, application, facility) do update
        set accepted = u.accepted + excluded.accepted, refused = u.refused + excluded.refused,
            rejected = u.rejected + excluded.rejected
  )
  insert into feed as f (site_id, client_id, surface, application, facility, first_at, last_at)
    select n.site_id, n.client_id, n.surface, n.application, n.facility, n.at, n.at from named n
     where n.is_feed
       and (n.application <> '' or n.facility <> '' or n.accepted + n.refused > 0 or exists (
         select from feed o where o.site_id = n.site_id and o.client_id = n.client_id and o.surface = n.surface
            and o.application = '' and o.facility = ''))
     order by 1, 2, 3, 4, 5
    on conflict (site_id, client_id, surface, application, facility) do update
      set last_at = greatest(f.last_at, excluded.last_at);
end $$;
