-- The entries of a batch (FHIR R4 http, 3.1.0.11.1), each independent of the others. Each of p_entries
-- is { rows, conditions }, arguments of fhir_conditional_write, whose rows are returned. A rejected entry leaves nothing; entry is its position.
create or replace function fhir_batch(p_site uuid, p_entries json, p_matches json)
returns table (entry integer, part text, ordinal integer, outcome text, id uuid, version integer, last_updated text)
language plpgsql as $$
#variable_conflict use_column
declare
  e record;
  -- By n, so that each entry gets its own.
  matches jsonb := (
    select jsonb_object_agg(m.n, m.found)
      from (select x ->> 0 as n, jsonb_agg(x) as found from json_array_elements(p_matches) x group by 1) m);
begin
  for e in
    select (x.n - 1)::integer as n, x.rows, x.conditions
      from rows from (json_to_recordset(p_entries) as (rows json, conditions json)) with ordinality
           x(rows, conditions, n)
     order by x.n
  loop
    return query select e.n, w.part, w.ordinal, w.outcome, w.id, w.version, w.last_updated
      from fhir_conditional_write(p_site, e.rows, null, e.conditions, (
        select coalesce(json_agg(m), '[]') from json_array_elements(e.conditions) c, jsonb_array_elements(matches -> (c ->> 'n')) m)) w;
  end loop;
end $$;
