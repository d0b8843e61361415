-- Returns how many of these resources, from the first, fit the answer of the request beside those of earlier
-- statements. The array p_bytes has the size of each resource, and p_most is the limit for all. The first resource of a
-- request always fits. The function notes the items of the resources that fit for the audit (audit_note). If a
-- statement's resources do not fit, no later statement's resources fit either (assert_answered). The setting
-- gateway.answer_room has the bytes that are left: '' before the first resource, '-1' after a resource did not fit.
create or replace function answer_note(p_items audit_item[], p_bytes bigint[], p_most bigint) returns integer
language plpgsql as $$
declare
  room bigint := nullif(current_setting('gateway.answer_room', true), '');
  fitting integer := 0;
  ignored text;
begin
  if coalesce(cardinality(p_bytes), 0) = 0 then
    return 0;
  end if;
  while fitting < cardinality(p_bytes) and coalesce(p_bytes[fitting + 1] <= room, true) loop
    fitting := fitting + 1;
    room := greatest(coalesce(room, p_most) - p_bytes[fitting], 0);
  end loop;
  ignored := set_config('gateway.answer_room', case fitting when 0 then '-1' else room::text end, true);
  if fitting > 0 then
    ignored := audit_note(p_items[:fitting]);
  end if;
  return fitting;
end $$;
