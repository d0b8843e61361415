-- When a resource was written, to the millisecond: every statement that makes a version takes its time from here. The
-- transaction has its id before it reads the clock, so that whoever reads the clock and then takes an id knows of every
-- writer with a later id that it wrote later (bulk_export_begin).
create or replace function write_time() returns timestamptz language plpgsql as $$
begin
  perform pg_current_xact_id();
  return date_trunc('milliseconds', clock_timestamp());
end $$;
