-- The last number of a site whose version, and each version before it, has a time up to p_since. The times never fall, so it halves
-- the numbers. Null if the feed began later than p_since.
create or replace function change_since(p_site uuid, p_since timestamptz) returns bigint language plpgsql stable as $$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
begin
  select c.last_number into high from change_position c where c.site_id = p_site and c.started_at <= p_since + interval '1 millisecond';
  while low < high loop
    middle := (low + high + 1) / 2;
    if (select c.reached from change c where c.site_id = p_site and c.number = middle) <= p_since then
      low := middle;
    else
      high := middle - 1;
    end if;
  end loop;
  return case when high is not null then low end;
end $$;
