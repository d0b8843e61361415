-- Returns why an access token is rejected (refusal), or null if it is accepted. A token is rejected if its API key is
-- not active or the token was revoked. It is also rejected if the key no longer has the token's audience or the
-- protocol that this audience needs. The column scopes has the scopes that the key allows now, possibly fewer than when
-- the token was issued. PostgreSQL puts this one query in the place of a call.
create or replace function caller_standing(p_site uuid, p_client text, p_jti text, p_audience text, p_protocol text)
returns table (refusal text, scopes text[])
language sql stable as $$
  select case when k.status is distinct from 'active' then 'the API key is not active'
              when exists (select from revoked_token t where t.site_id = p_site and t.jti = p_jti)
                then 'the access token was revoked'
              when p_protocol <> all (k.protocols) then 'the API key no longer has the protocol ' || p_protocol
              when k.allowed_audiences <> '{}' and p_audience <> all (k.allowed_audiences)
                then p_audience || ' is no longer among the Allowed audiences of the API key' end,
         k.allowed_scopes
    from (values (true)) always
    left join api_key k on k.site_id = p_site and k.client_id = p_client;
$$;
