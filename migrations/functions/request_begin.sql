-- How a function begins that is a request of its own (edge/docs/behaviour.md, Limits): it does what limit_time and assert_caller
-- do in a batch, and returns what limit_time returns. PostgreSQL counts a statement's time from the limit that was set before
-- it, so p_work_ms cannot limit this one: such a request reads and writes by key only, where it waits for nothing but locks,
-- and ends with assert_in_time, so that it does not commit past its deadline. Each setting of a transaction costs a read some
-- hundredths, so none is made that has no effect.
create or replace function request_begin(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[]) returns bigint language plpgsql as $$
declare
  at bigint := assert_in_time(p_deadline);
  ignored text := set_config('lock_timeout', p_lock_ms::text, true);
begin
  ignored := assert_caller(p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  return at;
end $$;
