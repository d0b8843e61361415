-- How many of these resources, from the first, still fit the answer of the request, together with those of the statements
-- before it: p_bytes of each, p_most of all, and the first of a request always. Of those that fit the lines are noted for the
-- audit (audit_note). Where none fits, none of a later statement does either (assert_answered).
create or replace function answer_note(p_lines text[], p_bytes bigint[], p_most bigint) returns integer
language plpgsql as $$
declare
  answered text := nullif(current_setting('gateway.answered', true), '');
  total bigint;
  fitting integer := 0;
  ignored text;
begin
  if coalesce(cardinality(p_bytes), 0) = 0 or answered = 'full' then
    return 0;
  end if;
  total := coalesce(answered, '0');
  while fitting < cardinality(p_bytes) and (total = 0 or total + p_bytes[fitting + 1] <= p_most) loop
    fitting := fitting + 1;
    total := total + p_bytes[fitting];
  end loop;
  ignored := set_config('gateway.answered', case fitting when 0 then 'full' else total::text end, true);
  if fitting > 0 then
    ignored := audit_note(p_lines[:fitting]);
  end if;
  return fitting;
end $$;
