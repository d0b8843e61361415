-- The first statement of every request with an access token: from here on the batch is about the token's site
-- (edge/README.md, Second wall). Raises GW401 when the token is not let in (caller_refusal), which rolls the whole batch
-- back. So a disabled key is dead at the next request, without a second trip.
create or replace function assert_caller(p_site uuid, p_client text, p_jti text) returns void language plpgsql as $$
declare
  refusal text := caller_refusal(nullif(set_config('gateway.site', p_site::text, true), '')::uuid, p_client, p_jti);
begin
  if refusal is not null then
    raise exception '%', refusal using errcode = 'GW401';
  end if;
end $$;
