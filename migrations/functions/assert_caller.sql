-- The first statement of every request with an access token: from here on the batch is about the token's site
-- (edge/docs/behaviour.md, Row-level security). Raises GW401 when the token is rejected (caller_standing). Raises GW403 when
-- the API key no longer allows one of p_scopes, on which the request relies, with their positions in DETAIL. Both roll
-- back the complete batch. A right that a key has lost is therefore lost at the next request, without a second round
-- trip.
--   - p_scopes: separated by spaces, as in the token (RFC 6749 §3.3). Most tokens have all scopes of their key.
create or replace function assert_caller(p_site uuid, p_client text, p_jti text, p_audience text, p_protocol text,
  p_scopes text) returns void language plpgsql as $$
declare
  site uuid := nullif(set_config('gateway.site', p_site::text, true), '');
  refusal text;
  allowed text[];
begin
  select s.refusal, s.scopes into refusal, allowed
    from caller_standing(site, p_client, p_jti, p_audience, p_protocol) s;
  if refusal is not null then
    raise exception '%', refusal using errcode = 'GW401';
  end if;
  if p_scopes <> array_to_string(allowed, ' ') and not string_to_array(p_scopes, ' ') <@ allowed then
    raise exception 'the API key no longer allows every scope of the access token' using errcode = 'GW403', detail = (
      select json_agg(s.n - 1) from string_to_table(p_scopes, ' ') with ordinality s (scope, n) where s.scope <> all (allowed));
  end if;
end $$;
