-- First and last statement of each transaction (edge/platform/database.ts). The following statements have the time
-- until p_deadline, and p_work_ms at most; the limit for a lock is p_lock_ms. Raises GW503 when no time is left, since
-- PostgreSQL accepts no such limit. Returns the clock (assert_in_time). The settings end with the transaction, also
-- behind a pooler. This is a function because its plans are kept: PostgreSQL would plan a statement again twice a
-- transaction.
create or replace function limit_time(p_deadline bigint, p_lock_ms integer, p_work_ms integer) returns bigint
language plpgsql as $$
declare
  at bigint := assert_in_time(p_deadline);
  -- Assigned, they are one expression that PL/pgSQL computes by itself; performed, they would be a query.
  ignored text := set_config('lock_timeout', p_lock_ms::text, true)
    || set_config('statement_timeout', least(p_deadline - at, p_work_ms)::text, true);
begin
  return at;
end $$;
