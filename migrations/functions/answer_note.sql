-- Returns how many of these resources fit the answer of the request, from the first, beside those of earlier statements.
-- - p_items: the items for the audit (audit_note), of which those that fit are noted.
-- - p_bytes: the size of each resource. p_most: the size of an answer. The first resource of a request always fits.
-- After a statement whose first resource does not fit, no resource of a later statement fits either (assert_answered).
-- The setting gateway.answer_room has the rest of the answer in bytes: '' before the first resource, '-1' after such a
-- statement.
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
