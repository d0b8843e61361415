-- Always true. Raises GW501 where the site has resources without the search rows of p_generation, which a search would not find.
create or replace function search_require(p_site uuid, p_generation integer) returns boolean language plpgsql stable as $$
begin
  if exists (select from search_behind b where b.site_id = p_site and b.generation < p_generation) then
    raise exception 'not all resources are indexed for this search' using errcode = 'GW501';
  end if;
  return true;
end $$;
