-- The beginning of each transaction about a message: it checks the sender and enters the site. The argument p_opening
-- is one of these:
--   - [site, Client ID]: the gateway itself names the API key.
--   - The arguments of assert_caller: the sender has an access token. Raises the errors of
--     assert_caller.
--   - The arguments of assert_key_link and 'link': the sender has a link. Raises its error.
--   - [address, MSH-3, MSH-4, certificate's subject]: a sidecar received the message.
--
-- Returns the rows of mllp_candidates as JSON for an address, else null.
create or replace function hl7_open(p_opening text[]) returns text language plpgsql as $$
declare
  ignored text;
begin
  if cardinality(p_opening) = 4 then
    return (select json_agg(c) from mllp_candidates(p_opening[1], p_opening[2], p_opening[3], p_opening[4]) c);
  elsif cardinality(p_opening) = 2 then
    ignored := set_config('gateway.site', p_opening[1], true);
  elsif cardinality(p_opening) = 5 then
    ignored := assert_key_link(p_opening[1]::uuid, p_opening[2], p_opening[3]::uuid, p_opening[4]);
  else
    ignored := assert_caller(p_opening[1]::uuid, p_opening[2], p_opening[3], p_opening[4], p_opening[5], p_opening[6]);
  end if;
  return null;
end $$;
