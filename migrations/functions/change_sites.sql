-- Returns the sites with a change feed. It covers all sites, so it has the owner's rights.
create or replace function change_sites() returns setof uuid language sql stable
security definer
set search_path = public, pg_temp
as $$
  select p.site_id from change_position p order by p.site_id
$$;
