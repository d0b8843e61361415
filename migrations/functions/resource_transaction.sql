-- Conditional writes and transactions (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11). Conditions are resolved first, then
-- everything is written, all or nothing. The caller holds advisory locks on what identifies the resources, taken by an
-- earlier statement, so that p_matches is what the winner of a race has left.
--
-- p_rows: as of resource_write. Where a row depends on a condition, its id is the condition's placeholder, a new uuid
-- that also stands in every text that refers to it, and its mode is '?' followed by the placeholder.
-- p_conditions: [{ n, kind: 'create' | 'update' | 'patch' | 'reference', type, placeholder, required: id | null, local: [uuid] }], in
-- the order in which they are resolved. local: resources of the same request that would match as well.
-- p_matches: [[n, id]], what the site has, two at most for each condition.
--
-- Rows that come back: for each condition ('condition', n, outcome, id), outcome 'resolved' (id null: nothing was found,
-- the placeholder is the new id), or why nothing at all was written: 'ambiguous', 'no-match' (a reference), 'absent' or
-- 'another-id' (an update whose body names an id, a patch); then those of resource_write ('row', ordinal, …).
-- Raises what resource_write raises, and GW409 with the positions of two rows that would write one resource.
create or replace function resource_transaction(p_site uuid, p_rows json, p_conditions json, p_matches json)
returns table (part text, ordinal integer, outcome text, id uuid, version integer, last_updated timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  c record;
  rows text := p_rows::text;
  row_ids uuid[];
  -- placeholder to id, of what has been resolved; the placeholders of creates that found their resource.
  resolved jsonb := '{}';
  kept uuid[] := '{}';
  found uuid[];
  target uuid;
  failed boolean := false;
  twice json;
begin
  select array_agg(x.id) into row_ids from json_to_recordset(p_rows) x(id uuid);
  part := 'condition';
  for c in
    select x.* from rows from (json_to_recordset(p_conditions) as (n integer, kind text, type text, placeholder uuid,
             required text, local json)) with ordinality x(n, kind, type, placeholder, required, local, position)
     order by x.position
  loop
    found := array(
      select (m ->> 1)::uuid from json_array_elements(p_matches) m where (m ->> 0)::integer = c.n
      union
      select coalesce((resolved ->> (l #>> '{}'))::uuid, (l #>> '{}')::uuid) from json_array_elements(c.local) l
       where (l #>> '{}')::uuid <> all (kept)
         and ((l #>> '{}')::uuid = any (row_ids)
           or exists (select from resource s
                        where s.site_id = p_site and s.type = c.type and s.id = (l #>> '{}')::uuid)));
    -- A patient and one that was merged into it are the survivor.
    if c.type = 'Patient' and cardinality(found) > 1 then
      found := array(select distinct patient_survivor(p_site, f) from unnest(found) f);
    end if;
    target := found[1];
    ordinal := c.n;
    id := target;
    outcome := case
      when cardinality(found) > 1 then 'ambiguous'
      when c.kind = 'reference' and target is null then 'no-match'
      when c.required is not null and target is null then 'absent'
      when c.required is not null and target::text <> c.required then 'another-id'
      else 'resolved' end;
    return next;
    if outcome <> 'resolved' then
      failed := true;
      continue;
    end if;
    rows := replace(rows, '?' || c.placeholder, case when target is null then 'create' when c.kind = 'create' then 'keep'
      else 'update' end);
    if target is not null then
      -- As edge/store/transaction.ts does it to what it answers.
      rows := replace(rows, c.placeholder::text, target::text);
      resolved := resolved || jsonb_build_object(c.placeholder, target);
      if c.kind = 'create' then kept := kept || c.placeholder; end if;
    end if;
  end loop;
  if failed then return; end if;

  select json_agg(x.positions) into twice from (
    select json_agg(y.n - 1) as positions
      from rows from (json_to_recordset(rows::json) as (type text, id uuid, mode text)) with ordinality y(type, id, mode, n)
     where y.mode <> 'keep' group by y.type, y.id having count(*) > 1) x;
  if twice is not null then
    raise exception 'one resource written twice' using errcode = 'GW409', detail = (twice -> 0)::text;
  end if;

  return query select 'row', w.ordinal, w.outcome, w.id, w.version, w.last_updated
    from resource_write(p_site, rows::json) w;
end $$;
