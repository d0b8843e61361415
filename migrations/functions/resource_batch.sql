-- The entries of a batch, each for itself (FHIR R4 http, 3.1.0.11.1): p_entries is [{ rows, conditions }], the arguments
-- of resource_transaction, whose rows come back. An entry that fails leaves nothing; entry is its position.
create or replace function resource_batch(p_site uuid, p_entries json, p_matches json)
returns table (entry integer, part text, ordinal integer, outcome text, id uuid, version integer,
  last_updated timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  e record;
begin
  for e in
    select (x.n - 1)::integer as n, x.rows, x.conditions
      from rows from (json_to_recordset(p_entries) as (rows json, conditions json)) with ordinality
           x(rows, conditions, n)
     order by x.n
  loop
    return query select e.n, t.part, t.ordinal, t.outcome, t.id, t.version, t.last_updated
      from resource_transaction(p_site, e.rows, e.conditions, p_matches, '[]', false) t;
  end loop;
end $$;
