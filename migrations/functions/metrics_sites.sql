-- Returns the names of sites for /metrics, [{ site, name }] with p_limit entries at most. It covers all sites, so it has the
-- owner's rights.
create or replace function metrics_sites(p_limit integer) returns json
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select coalesce(json_agg(x), '[]')
    from (select s.site_id as site, s.name from site s order by s.site_id limit p_limit) x
$$;
