-- Why an access token is not let in: its API key is not active, or it was revoked. Null when it is let in.
create or replace function caller_refusal(p_site uuid, p_client text, p_jti text) returns text
language plpgsql stable as $$
begin
  if not exists (select from api_key k where k.site_id = p_site and k.client_id = p_client and k.status = 'active') then
    return 'the API key is not active';
  end if;
  if exists (select from revoked_token t where t.site_id = p_site and t.jti = p_jti) then
    return 'the access token was revoked';
  end if;
  return null;
end $$;
