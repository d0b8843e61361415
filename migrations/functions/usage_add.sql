-- Adds what one process has counted; p_rows: [{ site, at: milliseconds, surface, outcome, requests, latency: [n] }].
-- One process counts for many sites, hence the owner's rights. Rows of sites that are gone are dropped.
create or replace function usage_add(p_rows json) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into usage as u (site_id, bucket, surface, outcome, requests, latency)
    select x.site, date_bin('15 minutes', to_timestamp(x.at / 1000.0), 'epoch'), x.surface, x.outcome, x.requests,
           array(select e::bigint from json_array_elements_text(x.latency) e)
      from json_to_recordset(p_rows) as x(site uuid, at bigint, surface text, outcome text, requests bigint, latency json)
      join site s on s.site_id = x.site
     order by 1, 2, 3, 4
    on conflict (site_id, bucket, surface, outcome) do update
      set requests = u.requests + excluded.requests,
          latency = array(select coalesce(a, 0) + coalesce(b, 0) from unnest(u.latency, excluded.latency) l(a, b));
end $$;
