-- Notes that an earlier release has written, which does not write all search rows of this one. From then on the site has complete
-- rows for the parameters up to p_generation only, and a running reindexing does not suffice. The row stays locked until the
-- transaction ends, so that a reindexing that begins meanwhile waits for these writes.
create or replace function search_lag(p_site uuid, p_generation integer) returns void language plpgsql as $$
begin
  perform from search_behind b
    where b.site_id = p_site and b.generation <= p_generation and b.filling is null for share;
  if not found then
    insert into search_behind as b (site_id, generation) values (p_site, p_generation)
      on conflict (site_id) do update set generation = least(b.generation, excluded.generation), filling = null;
  end if;
end $$;
