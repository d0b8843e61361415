-- Keeps why a request of a key was refused: the newest 500 of each key, as long as its site keeps them. Nothing is kept for an
-- unknown client. Who was refused has no site yet: it is found with the owner's rights, and nothing of it comes back.
create or replace function refusal_add(p_client text, p_id uuid, p_surface text, p_request text, p_address text, p_code text,
  p_reason text) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  v_site uuid;
  v_oldest uuid;
begin
  insert into refusal (site_id, refusal_id, client_id, surface, request_id, source_address, code, reason)
    select k.site_id, p_id, k.client_id, p_surface, p_request, p_address, p_code, p_reason
      from api_key k where k.client_id = p_client
    returning site_id into v_site;
  if v_site is null then
    return;
  end if;
  select r.refusal_id into v_oldest from refusal r
   where r.site_id = v_site and r.client_id = p_client
   order by r.refusal_id desc offset 500 limit 1;
  if found then
    delete from refusal r where r.site_id = v_site and r.client_id = p_client and r.refusal_id <= v_oldest;
  end if;
  delete from refusal r where (r.site_id, r.refusal_id) in (
    select o.site_id, o.refusal_id from retention_until(v_site, clock_timestamp()) until
      join refusal o on o.site_id = v_site and o.at < until.attempts
     order by o.at limit 100 for update of o skip locked);
end $$;
