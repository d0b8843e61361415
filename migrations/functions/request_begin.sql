-- The beginning of a function that is a complete request (edge/docs/behaviour.md, Limits). It does the work of
-- limit_time and assert_caller in a batch, and returns the result of limit_time. PostgreSQL applies the limit that was
-- set before a statement, so p_work_ms cannot limit this statement. Such a request therefore reads and writes by key
-- only, where it waits only for locks. It ends with assert_in_time, so that it does not commit after its deadline. Each
-- setting of a transaction costs some hundredths of a read, so settings without effect are omitted.
create or replace function request_begin(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[]) returns bigint language plpgsql as $$
declare
  at bigint := assert_in_time(p_deadline);
  ignored text := set_config('lock_timeout', p_lock_ms::text, true);
begin
  ignored := assert_caller(p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  return at;
end $$;
