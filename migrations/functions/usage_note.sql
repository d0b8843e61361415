-- Adds what one process has counted (edge/store/usage.ts):
--   p_counts: [{ site, at: milliseconds, surface, outcome, requests, durationMs, latency: [n] }], each outcome once
--   p_answers: [{ site, surface, answer, answers }], each once
--   p_feeds: [{ site, clientId, surface, at: milliseconds }], each once
-- One process counts for many sites, hence the owner's rights. What is of sites and keys that are gone is dropped. Each list is
-- written in the order of its key, so that two processes do not wait for each other.
create or replace function usage_note(p_counts json, p_answers json, p_feeds json) returns void language plpgsql
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

  -- A clock that is ahead must not make a feed that is silent look alive.
  insert into feed as f (site_id, client_id, surface, last_at)
    select x.site, x."clientId", x.surface, least(to_timestamp(x.at / 1000.0), clock_timestamp())
      from json_to_recordset(p_feeds) as x(site uuid, "clientId" text, surface text, at bigint)
      join api_key k on k.site_id = x.site and k.client_id = x."clientId"
     order by 1, 2, 3
    on conflict (site_id, client_id, surface) do update set last_at = greatest(f.last_at, excluded.last_at);
end $$;
