-- When a resource was written, to the millisecond: every statement that makes a version takes its time from here. The
-- transaction has its id before it reads the clock, so that whoever reads the clock and then takes an id knows of every
-- writer with a later id that it wrote later (bulk_export_begin).
create or replace function write_time() returns timestamptz language plpgsql as $$
declare
  writer xid8 := pg_current_xact_id();
begin
  return date_trunc('milliseconds', clock_timestamp());
end $$;
