-- The first statement of every request with an access token: from here on the batch is about the token's site
-- (edge/docs/behaviour.md, Second wall). Raises GW401 when the token is rejected (caller_standing). Raises GW403 when
-- the API key no longer allows one of p_scopes, on which the request relies, with their positions in DETAIL. Both roll
-- back the complete batch. A right that a key has lost is therefore lost at the next request, without a second round
-- trip.
create or replace function assert_caller(p_site uuid, p_client text, p_jti text, p_audience text, p_protocol text,
  p_scopes text[]) returns void language plpgsql as $$
declare
  standing record := caller_standing(nullif(set_config('gateway.site', p_site::text, true), '')::uuid, p_client, p_jti,
    p_audience, p_protocol);
begin
  if standing.refusal is not null then
    raise exception '%', standing.refusal using errcode = 'GW401';
  end if;
  if not p_scopes <@ standing.scopes then
    raise exception 'the API key no longer allows every scope of the access token' using errcode = 'GW403', detail = (
      select json_agg(s.n - 1) from unnest(p_scopes) with ordinality s (scope, n) where s.scope <> all (standing.scopes));
  end if;
end $$;
