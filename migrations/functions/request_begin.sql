-- The beginning of a function that is a complete request (edge/docs/behaviour.md, Limits). It does the work of limit_time and
-- assert_caller in a batch, and returns the result of limit_time. PostgreSQL counts a statement's time from the limit before the
-- statement, so p_work_ms cannot limit the function. Such a request reads and writes by key, where it only waits for locks.
-- It ends with assert_in_time, so it does not commit after its deadline. Each setting of a transaction costs a read some
-- hundredths, so the function makes no setting without effect.
create or replace function request_begin(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text) returns bigint language plpgsql as $$
declare
  at bigint := assert_in_time(p_deadline);
  ignored text := set_config('lock_timeout', p_lock_ms::text, true);
begin
  ignored := assert_caller(p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  return at;
end $$;
