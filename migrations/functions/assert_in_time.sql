-- Raises GW503 when p_deadline has passed, so that work that waited on its way, or took too long, does not commit after its
-- asker was told that it failed. p_deadline and what comes back, and stands in the message of the refusal: ms since the
-- epoch, by this clock.
create or replace function assert_in_time(p_deadline bigint) returns bigint language plpgsql as $$
declare
  at bigint := floor(1000 * date_part('epoch', clock_timestamp()));
begin
  if at >= p_deadline then
    raise exception 'late %', at using errcode = 'GW503';
  end if;
  return at;
end $$;
