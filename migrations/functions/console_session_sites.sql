-- Returns the sites that a session may use, if this gateway knows them. They are several, so it runs with the rights of
-- its owner. It returns only sites that the provider granted.
create or replace function console_session_sites(p_site uuid, p_session uuid) returns table (site_id uuid, name text)
language sql
stable
security definer
set search_path = public, pg_temp
as $$
  select t.site_id, t.name
    from console_session s
   cross join lateral jsonb_object_keys(s.grants) g (site)
    join site t on t.site_id = g.site::uuid
   where s.site_id = p_site and s.session_id = p_session and console_session_is_live(s)
$$;
