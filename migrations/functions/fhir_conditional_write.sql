-- Writes that depend on conditions (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11). All conditions are resolved, then
-- all rows are written, or none (fhir_write). An earlier statement of the caller locked the identifiers of the
-- resources, so p_matches includes the writes of the winner of a race.
--
--   - p_rows, p_required: as of fhir_write. A row that depends on a condition has the condition's placeholder in its id
--     member. This is a new uuid that is also in every text that refers to the row. Its mode is '?' followed by the
--     placeholder.
--   - p_conditions: [{ n, kind: 'create' | 'update' | 'patch' | 'reference', type, placeholder, required: id | null,
--     local: [uuid] }], in the order in which they are resolved.
--   - local: resources of the same request that would match as well.
--   - p_matches: [[n, id]], the matching resources of the site, at most two for each condition.
--
-- Notes what each condition found for the audit (audit_note, 'search'), also where the write is then rejected.
-- Returned rows:
--   - For each condition ('condition', n, outcome, id). The outcome 'resolved' without an id shows that nothing was
--     found and that the placeholder becomes the new resource. Another outcome is the reason why nothing was written:
--     'ambiguous', 'no-match' (a reference) or 'another-id'. The outcome 'another-id' is an update whose body names an
--     id, or a patch, when the condition did not find that id.
--   - The rows of fhir_write.
--   - A rejected write does not raise, because the audit keeps the matches of the conditions. It returns ('failed',
--     position, SQLSTATE) for each position that failed, with the SQLSTATEs of fhir_write. Then nothing was written,
--     even if other rows are returned.
create or replace function fhir_conditional_write(p_site uuid, p_rows json, p_required json, p_conditions json, p_matches json)
returns table (part text, ordinal integer, outcome text, id uuid, version integer, last_updated text)
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
  noted audit_item[] := '{}';
  failed boolean := false;
  positions text;
  ignored text;
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
    -- A patient and a patient that was merged into it both count as the survivor.
    if c.type = 'Patient' and cardinality(found) > 1 then
      found := array(select distinct patient_survivor(p_site, f) from unnest(found) f);
    end if;
    -- The lateral with a limit is a look-up for each. Resources that this request makes are not there yet.
    noted := noted || array(
      select row('search', r.type, r.id, r.patient_id)::audit_item
        from unnest(found) f(id)
       cross join lateral (
         select x.* from resource x where x.site_id = p_site and x.type = c.type and x.id = f.id limit 1) r);
    target := found[1];
    ordinal := c.n;
    id := target;
    outcome := case
      when cardinality(found) > 1 then 'ambiguous'
      when c.kind = 'reference' and target is null then 'no-match'
      when c.required is not null and target::text is distinct from c.required then 'another-id'
      else 'resolved' end;
    return next;
    if outcome <> 'resolved' then
      failed := true;
      continue;
    end if;
    rows := replace(rows, '?' || c.placeholder, case when target is null then 'create' when c.kind = 'create' then 'keep'
      else 'update' end);
    if target is not null then
      -- edge/store/transaction.ts replaces the placeholder in its answer in the same way.
      rows := replace(rows, c.placeholder::text, target::text);
      resolved := resolved || jsonb_build_object(c.placeholder, target);
      if c.kind = 'create' then kept := kept || c.placeholder; end if;
    end if;
  end loop;
  -- Outside the block below, which undoes what is noted in it.
  ignored := audit_note(noted);
  if failed then return; end if;

  begin
    return query select w.part, w.ordinal, w.outcome, w.id, w.version, w.last_updated
      from fhir_write(p_site, rows::json, p_required) w;
  exception when sqlstate 'GW404' or sqlstate 'GW409' or sqlstate 'GW412' or sqlstate 'GW422' then
    get stacked diagnostics positions = pg_exception_detail;
    return query select 'failed', p::integer, sqlstate, null::uuid, null::integer, null::text
      from json_array_elements_text(positions::json) p;
  end;
end $$;
