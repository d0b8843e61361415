-- Writes that depend on conditions (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11). The function resolves all conditions, then
-- writes everything, all or nothing (fhir_write). The caller took the locks in an earlier statement, so that p_matches
-- includes what the winner of a race wrote.
-- - p_rows, p_required: as of fhir_write. A row with a condition has the condition's placeholder as its id, a new uuid. The
--   placeholder is also in every text that refers to the row. Its mode is '?' followed by the placeholder.
-- - p_conditions: [{ n, kind: 'create' | 'update' | 'patch' | 'reference', type, placeholder, required: id | null,
--   local: [uuid] }], in the order in which they are resolved. local: resources of the same request that also match.
-- - p_matches: [[n, id]], at most two stored resources for each condition.
-- Notes the matches of each condition for the audit (audit_note, 'search'), also where the write is then rejected.
-- Returns a row for each condition: ('condition', n, outcome, id). After them it returns the rows of fhir_write.
-- - 'resolved': id is the match. Null: the condition found nothing, and the placeholder is the new id.
-- - 'ambiguous', 'no-match' (of a reference), 'another-id' (the required id was not found): nothing was written.
-- A rejected write does not raise, because the audit keeps the matches of the conditions. It returns ('failed', position,
-- SQLSTATE) for each affected position, with the SQLSTATEs of fhir_write. Then nothing was written.
create or replace function fhir_conditional_write(p_site uuid, p_rows json, p_required json, p_conditions json, p_matches json)
returns table (part text, ordinal integer, outcome text, id uuid, version integer, last_updated text)
language plpgsql as $$
#variable_conflict use_column
declare
  c record;
  row_ids uuid[];
  -- The resolved ids by placeholder; the placeholders of creates that found a resource.
  resolved jsonb := '{}';
  kept uuid[] := '{}';
  -- The ids of p_matches by n, so that each condition finds its own at once.
  matches jsonb := (
    select jsonb_object_agg(m.n, m.ids)
      from (select x ->> 0 as n, jsonb_agg(x ->> 1) as ids from json_array_elements(p_matches) x group by 1) m);
  -- The texts to replace in the rows, and their replacements: '?' and the placeholder by the mode, the placeholder by the id.
  replaced text[] := '{}';
  replacements text[] := '{}';
  settled jsonb;
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
      select m::uuid from jsonb_array_elements_text(matches -> c.n::text) m
      union
      select coalesce((resolved ->> (l #>> '{}'))::uuid, (l #>> '{}')::uuid) from json_array_elements(c.local) l
       where (l #>> '{}')::uuid <> all (kept)
         and ((l #>> '{}')::uuid = any (row_ids)
           or exists (select from resource s
                        where s.site_id = p_site and s.type = c.type and s.id = (l #>> '{}')::uuid)));
    -- A patient and a patient that was merged into it count as the survivor.
    if c.type = 'Patient' and cardinality(found) > 1 then
      found := array(select distinct patient_survivor(p_site, f) from unnest(found) f);
    end if;
    -- The lateral with a limit is a look-up for each. Resources that this request creates do not exist yet.
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
    replaced := replaced || ('?' || c.placeholder);
    replacements := replacements || case when target is null then 'create' when c.kind = 'create' then 'keep' else 'update' end;
    if target is not null then
      -- edge/store/transaction.ts replaces it in the answer in the same way.
      replaced := replaced || c.placeholder::text;
      replacements := replacements || target::text;
      resolved := resolved || jsonb_build_object(c.placeholder, target);
      if c.kind = 'create' then kept := kept || c.placeholder; end if;
    end if;
  end loop;
  -- Outside the block below, because an exception undoes the notes that are made in the block.
  ignored := audit_note(noted);
  if failed then return; end if;
  settled := jsonb_object(replaced, replacements);

  begin
    return query select w.part, w.ordinal, w.outcome, w.id, w.version, w.last_updated
      from fhir_write(p_site, (
          -- One pass, because separate replacements would each read all rows. A placeholder is a JSON string or ends one;
          -- within a text that is JSON itself the quote has backslashes. Most pieces are shorter than a placeholder.
          array_to_string(array(
            select case when octet_length(x.piece) < 36 then x.piece
                        else (
                          select coalesce(left(s.word, -length(s.name)) || (settled ->> s.name) || substr(x.piece, length(s.word) + 1),
                                   x.piece)
                            from (select p.word, case when p.word like '?%' then p.word else right(p.word, 36) end as name
                                    from (select rtrim(x.piece, '\') as word) p) s) end
              from string_to_table(p_rows::text, '"') x(piece)), '"'))::json, p_required) w;
  exception when sqlstate 'GW404' or sqlstate 'GW409' or sqlstate 'GW412' or sqlstate 'GW422' then
    get stacked diagnostics positions = pg_exception_detail;
    return query select 'failed', p::integer, sqlstate, null::uuid, null::integer, null::text
      from json_array_elements_text(positions::json) p;
  end;
end $$;
