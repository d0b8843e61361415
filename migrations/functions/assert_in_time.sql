-- Raises GW503 when p_deadline has passed. Work that waited or took too long then does not commit after its client has
-- received an error. The deadline and the returned time are in ms since the epoch, by this clock. The message of GW503
-- has the time too.
create or replace function assert_in_time(p_deadline bigint) returns bigint language plpgsql as $$
declare
  at bigint := floor(1000 * date_part('epoch', clock_timestamp()));
begin
  if at >= p_deadline then
    raise exception 'late %', at using errcode = 'GW503';
  end if;
  return at;
end $$;
