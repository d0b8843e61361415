-- The entries of a batch (FHIR R4 http, 3.1.0.11.1), each independent of the others. Each of p_entries
-- is { rows, conditions }, arguments of fhir_conditional_write, whose rows are returned. A rejected entry leaves nothing; entry is its position.
--
-- Creates that follow each other are written together, which costs half as much. Only a missing patient rejects a create. As
-- resource_write finds all of them before it writes, the other creates are then written without these.
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
  -- The entries to write, and the row of each.
  places integer[];
  writes json[];
  rejected integer[];
  positions text;
begin
  for e in
    select array_agg(r.n order by r.n) as places, array_agg(r.rows -> 0 order by r.n) as writes, min(r.n) as n,
           (array_agg(r.rows))[1] as rows, (array_agg(r.conditions))[1] as conditions
      from (
        select x.*, x.n - case when x.is_create then row_number() over (partition by x.is_create order by x.n) else 0 end as run
          from (
            select (y.n - 1)::integer as n, y.rows, y.conditions,
                   json_array_length(y.conditions) = 0 and y.rows #>> '{0,mode}' = 'create' and y.rows #> '{0,members}' is null as is_create
              from rows from (json_to_recordset(p_entries) as (rows json, conditions json)) with ordinality
                   y(rows, conditions, n)) x) r
     group by r.is_create, r.run
     order by n
  loop
    if json_array_length(e.conditions) > 0 or json_array_length(e.rows) > 1 then
      return query select e.n, w.part, w.ordinal, w.outcome, w.id, w.version, w.last_updated
        from fhir_conditional_write(p_site, e.rows, null, e.conditions, (
          select coalesce(json_agg(m), '[]') from json_array_elements(e.conditions) c, jsonb_array_elements(matches -> (c ->> 'n')) m)) w;
      continue;
    end if;
    places := e.places;
    writes := e.writes;
    while cardinality(places) > 0 loop
      begin
        return query select places[w.ordinal + 1], w.part, 0, w.outcome, w.id, w.version, w.last_updated
          from fhir_write(p_site, array_to_json(writes)) w;
        exit;
      exception when sqlstate 'GW404' or sqlstate 'GW409' or sqlstate 'GW412' or sqlstate 'GW422' then
        get stacked diagnostics positions = pg_exception_detail;
        rejected := array(select p::integer + 1 from json_array_elements_text(positions::json) p);
        return query select places[p], 'failed', 0, sqlstate, null::uuid, null::integer, null::text from unnest(rejected) p;
        select array_agg(places[p] order by p), array_agg(writes[p] order by p) into places, writes
          from generate_subscripts(places, 1) p where p <> all (rejected);
      end;
    end loop;
  end loop;
end $$;
