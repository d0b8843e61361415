-- First and last statement of each transaction (edge/platform/database.ts): what follows has the time that is left until
-- p_deadline, and p_work_ms at most; a lock is waited for p_lock_ms. Raises GW503 when no time is left, since PostgreSQL
-- takes no such limit: so work that waited on its way, or took too long in several statements, does not commit after its
-- asker was told that it failed. The settings end with the transaction, also behind a pooler.
-- p_deadline and what comes back, and stands in the message of the refusal: ms since the epoch, by this clock.
-- A function, because its plans are kept: a statement would be planned anew twice a transaction.
create or replace function limit_time(p_deadline bigint, p_lock_ms integer, p_work_ms integer) returns bigint
language plpgsql as $$
declare
  at bigint := floor(1000 * date_part('epoch', clock_timestamp()));
  ignored text;
begin
  if at >= p_deadline then
    raise exception 'late %', at using errcode = 'GW503';
  end if;
  -- Assigned, each is an expression that PL/pgSQL computes by itself; performed, it would be a query.
  ignored := set_config('lock_timeout', p_lock_ms::text, true);
  ignored := set_config('statement_timeout', least(p_deadline - at, p_work_ms)::text, true);
  return at;
end $$;
