-- Conditional writes and transactions (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11). Conditions are resolved first, then
-- everything is written, all or nothing. The caller holds advisory locks on what identifies the resources, taken by an
-- earlier statement, so that p_matches is what the winner of a race has left.
--
-- p_rows: as of resource_write. Where a row depends on a condition, its id is the condition's placeholder, a new uuid
-- that also stands in every text that refers to it, and its mode is '?' followed by the placeholder.
-- p_conditions: [{ n, kind: 'create' | 'update' | 'patch' | 'reference', type, placeholder, required: id | null, local: [uuid] }], in
-- the order in which they are resolved. local: resources of the same request that would match as well.
-- p_matches: [[n, id]], what the site has, two at most for each condition.
-- p_required: [{ type, id, version | null }], what must exist once everything is written (require_resource).
-- p_raises: a refused write raises, which undoes everything and leaves no audit row. False: it comes back as rows.
--
-- Notes what each condition found for the audit (audit_note, 'search'), also where the write is then refused.
-- Rows that come back: for each condition ('condition', n, outcome, id), outcome 'resolved' (id null: nothing was found,
-- the placeholder is the new id), or why nothing at all was written: 'ambiguous', 'no-match' (a reference) or 'another-id'
-- (an update whose body names an id, or a patch, and that id was not found); then those of resource_write ('row', ordinal, …).
-- A refused write is ('failed', position, SQLSTATE) for each position that it is about: nothing was written, whatever else
-- comes back. Its SQLSTATEs are those of resource_write; GW409 with the positions of two rows that would write one resource;
-- GW404 with the position behind the rows of what p_required misses.
create or replace function resource_transaction(p_site uuid, p_rows json, p_conditions json, p_matches json,
  p_required json, p_raises boolean)
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
  noted text[] := '{}';
  failed boolean := false;
  twice json;
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
    -- A patient and one that was merged into it are the survivor.
    if c.type = 'Patient' and cardinality(found) > 1 then
      found := array(select distinct patient_survivor(p_site, f) from unnest(found) f);
    end if;
    -- The lateral with a limit is a look-up for each. Resources that this request makes are not there yet.
    noted := noted || array(
      select concat_ws(' ', 'search', r.type, r.id, r.patient_id)
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
      -- As edge/store/transaction.ts does it to what it answers.
      rows := replace(rows, c.placeholder::text, target::text);
      resolved := resolved || jsonb_build_object(c.placeholder, target);
      if c.kind = 'create' then kept := kept || c.placeholder; end if;
    end if;
  end loop;
  -- Outside the block below: what it notes is undone with it.
  ignored := audit_note(noted);
  if failed then return; end if;

  begin
    select json_agg(x.positions) into twice from (
      select json_agg(y.n - 1) as positions
        from rows from (json_to_recordset(rows::json) as (type text, id uuid, mode text)) with ordinality y(type, id, mode, n)
       where y.mode <> 'keep' group by y.type, y.id having count(*) > 1) x;
    if twice is not null then
      raise exception 'one resource written twice' using errcode = 'GW409', detail = (twice -> 0)::text;
    end if;
    return query select 'row', w.ordinal, w.outcome, w.id, w.version, w.last_updated
      from resource_write(p_site, rows::json) w;
    for c in
      select x.* from rows from (json_to_recordset(p_required) as (type text, id uuid, version integer)) with ordinality
             x(type, id, version, n)
    loop
      ignored := require_resource(p_site, c.type, c.id, c.version, json_array_length(p_rows) + c.n::integer - 1);
    end loop;
  exception when sqlstate 'GW404' or sqlstate 'GW409' or sqlstate 'GW412' or sqlstate 'GW422' then
    if p_raises then raise; end if;
    get stacked diagnostics positions = pg_exception_detail;
    return query select 'failed', p::integer, sqlstate, null::uuid, null::integer, null::timestamptz
      from json_array_elements_text(positions::json) p;
  end;
end $$;
