-- Returns the write time of a resource, to the millisecond: every statement that makes a version uses this function.
-- The transaction has its id before it reads the clock. A transaction may read the clock first and get its id after it.
-- Every writer with a later id than this transaction then wrote later (bulk_export_begin).
create or replace function write_time() returns timestamptz language plpgsql as $$
declare
  writer xid8 := pg_current_xact_id();
begin
  return date_trunc('milliseconds', clock_timestamp());
end $$;
