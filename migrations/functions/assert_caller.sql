-- The first statement of every request with an access token: raises GW401 when the key is not active or the token was
-- revoked, which rolls the whole batch back. So a disabled key is dead at the next request, without a second trip.
create or replace function assert_caller(p_site uuid, p_client text, p_jti text) returns void language plpgsql as $$
begin
  if not exists (select from api_key k where k.site_id = p_site and k.client_id = p_client and k.status = 'active') then
    raise exception 'the API key is not active' using errcode = 'GW401';
  end if;
  if exists (select from revoked_token t where t.site_id = p_site and t.jti = p_jti) then
    raise exception 'the access token was revoked' using errcode = 'GW401';
  end if;
end $$;
