-- How a statement begins that is a whole request (edge/docs/behaviour.md, Limits): as a batch does with limit_time and assert_caller,
-- and it returns what limit_time does. A statement's time is counted from the limit that was set before it, so that such a
-- request reads and writes by key only, and p_work_ms sets none; what it waits for is locks, and past its deadline it does not
-- commit: it ends with assert_in_time. Each setting of a transaction costs a read some hundredths, so none is made in vain.
create or replace function request_begin(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[]) returns bigint language plpgsql as $$
declare
  at bigint := assert_in_time(p_deadline);
  ignored text := set_config('lock_timeout', p_lock_ms::text, true);
begin
  ignored := assert_caller(p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  return at;
end $$;
