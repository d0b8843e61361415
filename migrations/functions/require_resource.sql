-- Raises GW404 with p_position in DETAIL where a resource that a transaction reads does not exist.
create or replace function require_resource(p_site uuid, p_type text, p_id uuid, p_version integer, p_position integer)
returns void language plpgsql as $$
begin
  if not exists (select from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id
                    and r.version = coalesce(p_version, r.version))
     and not exists (select from resource_history h where h.site_id = p_site and h.type = p_type and h.id = p_id
                    and h.version = p_version) then
    raise exception 'no such resource' using errcode = 'GW404', detail = json_build_array(p_position)::text;
  end if;
end $$;
