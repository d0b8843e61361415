-- Always true. Raises GW501 if some resources of the site were not indexed for parameters of p_generation, since a
-- search by them would be incomplete.
create or replace function search_require(p_site uuid, p_generation integer) returns boolean language plpgsql stable as $$
begin
  if exists (select from search_behind b where b.site_id = p_site and b.generation < p_generation) then
    raise exception 'not all resources are indexed for this search' using errcode = 'GW501';
  end if;
  return true;
end $$;
