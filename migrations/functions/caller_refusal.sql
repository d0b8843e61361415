-- Why an access token is not let in: its API key is not active, or it was revoked. Null when it is let in.
create or replace function caller_refusal(p_site uuid, p_client text, p_jti text) returns text
language plpgsql stable as $$
declare
  is_active boolean;
  is_revoked boolean;
begin
  select exists (select from api_key k where k.site_id = p_site and k.client_id = p_client and k.status = 'active'),
         exists (select from revoked_token t where t.site_id = p_site and t.jti = p_jti)
    into is_active, is_revoked;
  return case when not is_active then 'the API key is not active'
              when is_revoked then 'the access token was revoked' end;
end $$;
