-- The first event of a subscription whose change has the time p_time or a later one. Each version with such a time is this event
-- or a later one. Without such an event, it is the number of the next event.
--   - p_time: null returns no row. It has milliseconds.
--   - starts_at: the subscription has no events of earlier versions.
-- For a time before starts_at or in the future, the event is above all events.
create or replace function subscription_first(p_site uuid, p_id uuid, p_client text, p_time timestamptz)
returns table (event bigint, starts_at timestamptz, is_future boolean)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  s subscription;
  e subscription_event;
  below bigint;
  low bigint := 0;
  high bigint;
  middle bigint;
begin
  select x.* into s from subscription x where x.site_id = p_site and x.subscription_id = p_id and x.client_id = p_client;
  if not found or p_time is null then
    return;
  end if;
  starts_at := coalesce(s.since, s.created_at);
  is_future := p_time > clock_timestamp();
  if is_future or p_time < starts_at then
    event := 9223372036854775807;
    return next;
    return;
  end if;
  -- A feed that began later than this has no earlier times.
  below := coalesce(change_since(p_site, p_time - interval '1 millisecond'), 0);
  -- Numbers grow with the events. The events up to `low` have numbers up to `below`; those above `high` have greater ones.
  high := s.last_event;
  while low < high loop
    middle := (low + high) / 2;
    select y.* into strict e from subscription_event y
     where y.site_id = p_site and y.subscription_id = p_id and y.last_event > middle order by y.last_event limit 1;
    if e.numbers[cardinality(e.numbers)] <= below then
      low := e.last_event;
    elsif e.numbers[1] > below then
      high := e.last_event - cardinality(e.numbers);
    else
      low := e.last_event - cardinality(e.numbers) + (select count(*) from unnest(e.numbers) n where n <= below);
      high := low;
    end if;
  end loop;
  event := low + 1;
  return next;
end $$;
