-- The time zone of the site, in which its dates without a zone are; UTC where it has none that PostgreSQL knows.
create or replace function search_zone(p_site uuid) returns text language plpgsql stable as $$
declare
  v_zone text := (select s.time_zone from site s where s.site_id = p_site);
begin
  perform now() at time zone v_zone;
  return coalesce(v_zone, 'UTC');
exception when invalid_parameter_value then
  return 'UTC';
end $$;
