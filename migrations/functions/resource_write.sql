-- Writes resources, all or nothing. p_rows is an array of
--   { type, id, mode: 'create' | 'update' | 'upsert' | 'keep', expect: [version | 0 (must not exist)] | null,
--     unmodifiedSince: instant | null, noted: 'patch' | null, meta, body, patient: uuid | null,
--     identifiers: [[system, value]], tokens: [[param, system, code]],
--     dates: [[param, from, before, from is local, before is local]],
--     search: { names, nameSort, birthDate, gender } | null, parts: { families, givens, exact } | null,
--     report: { accession, state } | null, indexed: the index generation of these rows, default 1,
--     writer: 'client' | 'message', known: of a Patient, as in patient_rows_write, members: [patient uuid] of a Group }.
-- Returns a row for each. outcome is created, updated, unchanged or, for 'keep', matched. 'keep' writes nothing, because a
-- conditional create found the resource.
-- Raises with the 0-based positions in p_rows as JSON in DETAIL:
--   GW404: update of an id that the site does not have. GW412: another version than the expected ones.
--   GW422: a patient that the site does not have.
-- Notes each row for the audit (audit_note): create, update (or `noted`) or, for 'keep', read. Notes the versions that a
-- client's rows make (audit_write).
-- Settings: migrations/README.md, "Plans".
create or replace function resource_write(p_site uuid, p_rows json)
returns table (ordinal integer, outcome text, id uuid, version integer, last_updated timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  r record;
  cur resource;
  writes resource_row[];
  lags boolean;
  has_members boolean;
  -- Patients that the site does not have yet, also those that these rows create.
  absent uuid[];
  missing json;
  at timestamptz := write_time();
  by_transaction bigint := pg_current_xact_id()::text::bigint;
  -- The last step of new resources.
  inserted integer;
  -- For the audit: every row, and its patient before the write.
  noted audit_item[] := '{}';
  -- '"id":version' of each version that a client makes.
  made text[] := '{}';
  ignored text;
begin
  -- The offset forces a look-up for each row; a join could read every patient of the site.
  select array_agg(x), bool_or(x.indexed is null or x.indexed < 2), bool_or(x.members is not null),
         array_agg(x.patient) filter (where x.mode <> 'keep' and x.patient is not null
           and not exists (select from resource p
                            where p.site_id = p_site and p.type = 'Patient' and p.id = x.patient offset 0))
    into writes, lags, has_members, absent
    from json_populate_recordset(null::resource_row, p_rows) x;
  if lags then
    ignored := search_lag(p_site, 1);
  end if;
  if absent is not null then
    missing := (
      select json_agg(x.ordinality - 1)
        from unnest(writes) with ordinality x
       where x.mode <> 'keep' and x.patient in (select unnest(absent))
         and x.patient not in (select c.id from unnest(writes) c where c.type = 'Patient' and c.mode in ('create', 'upsert')));
  end if;
  if missing is not null then
    raise exception 'a referenced patient is not in the site' using errcode = 'GW422', detail = missing::text;
  end if;

  if has_members then
    -- No foreign key protects members: an erasure of a member waits for this write, or this write for the erasure (patient_erase).
    perform from resource p
      where p.site_id = p_site and p.type = 'Patient'
        and p.id = any (array(select json_array_elements_text(x.members)::uuid from unnest(writes) x))
      order by p.id for key share;
  end if;

  -- The steps: patients first, for the foreign key. New resources before others, because a conditional create may have found one.
  -- Then by id, so that two writers lock in one order and cannot deadlock.
  for r in
    select 2 * (x.type <> 'Patient')::integer + (x.mode <> 'create' or x.expect is not null or x.members is not null)::integer as step,
           (x.ordinality - 1)::integer as n, x.*
      from unnest(writes) with ordinality x
     order by step, x.id, x.ordinality
  loop
    ordinal := r.n;
    id := r.id;
    if r.step in (0, 2) then
      -- One statement for all of a step: to begin one costs as much as a row.
      if r.step is distinct from inserted then
        inserted := r.step;
        insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
          select p_site, x.type, x.id, 1, at, x.meta, x.body, x.patient, by_transaction
            from unnest(writes) x
           where (x.type = 'Patient') = (inserted = 0) and x.mode = 'create' and x.expect is null and x.members is null;
      end if;
      outcome := 'created';
      version := 1;
      last_updated := at;
      noted := noted || row('create', r.type, r.id, r.patient)::audit_item;
      if r.writer = 'client' then
        made := made || ('"' || r.id || '":1');
      end if;
      return next;
      continue;
    end if;
    cur := null;
    if r.mode <> 'create' then
      -- Not "for update": that would wait for, and deadlock with, writers whose foreign key points here.
      select c.* into cur
        from resource c where c.site_id = p_site and c.type = r.type and c.id = r.id for no key update;
      if not found and r.mode in ('update', 'keep') then
        raise exception 'no such resource' using errcode = 'GW404', detail = json_build_array(r.n)::text;
      end if;
    end if;
    -- Dates of HTTP have seconds. A new resource has not changed (RFC 9110 §13.1.4).
    if not coalesce(cur.version, 0) = any (r.expect)
       or date_trunc('second', cur.last_updated) > r."unmodifiedSince" then
      raise exception 'another version' using errcode = 'GW412', detail = json_build_array(r.n)::text;
    end if;

    if cur.version is not null and r.writer = 'client' then
      r.body := document_keep(cur.body, r.body);
    end if;
    if r.mode = 'keep' or (cur.body = r.body and cur.meta = r.meta) then
      outcome := case r.mode when 'keep' then 'matched' else 'unchanged' end;
      version := cur.version;
      last_updated := cur.last_updated;
      noted := noted || row(case r.mode when 'keep' then 'read' else coalesce(r.noted, 'update') end, r.type, r.id,
        cur.patient_id)::audit_item;
      if r.mode <> 'keep' then
        writes[r.n + 1].mode := 'unchanged';
      end if;
      return next;
      continue;
    end if;

    if r.members is not null and (
         select count(*) from resource p
          where p.site_id = p_site and p.type = 'Patient' and p.id = any (array(select json_array_elements_text(r.members)::uuid)))
         < json_array_length(r.members) then
      raise exception 'a member is not in the site' using errcode = 'GW422', detail = json_build_array(r.n)::text;
    end if;

    if cur.version is null then
      outcome := 'created';
      version := 1;
      last_updated := at;
      insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
        values (p_site, r.type, r.id, version, last_updated, r.meta, r.body, r.patient, by_transaction);
      noted := noted || row('create', r.type, r.id, r.patient)::audit_item;
      writes[r.n + 1].mode := 'create';
    else
      outcome := 'updated';
      version := cur.version + 1;
      last_updated := greatest(at, cur.last_updated);
      insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
        values (p_site, r.type, r.id, cur.version, cur.last_updated, cur.meta, cur.body, cur.patient_id, cur.written_by);
      noted := noted || row(coalesce(r.noted, 'update'), r.type, r.id, r.patient)::audit_item;
      if cur.patient_id is distinct from r.patient then
        noted := noted || row(coalesce(r.noted, 'update'), r.type, r.id, cur.patient_id)::audit_item;
      end if;
      update resource c set version = resource_write.version, last_updated = resource_write.last_updated,
             meta = r.meta, body = r.body, patient_id = r.patient, written_by = greatest(by_transaction, cur.written_by)
       where c.site_id = p_site and c.type = r.type and c.id = r.id;
      if r.writer = 'client' then
        ignored := precedence_stamp(p_site, r.type, r.id, cur.body, r.body, resource_write.last_updated);
      end if;
    end if;
    if r.writer = 'client' then
      made := made || ('"' || r.id || '":' || version);
    end if;
    return next;
  end loop;
  ignored := search_index_write(p_site, writes);
  ignored := patient_rows_write(p_site, writes);
  ignored := audit_note(noted);
  if made <> '{}' then
    ignored := set_config('gateway.versions',
      concat_ws(',', nullif(current_setting('gateway.versions', true), ''), array_to_string(made, ',')), true);
  end if;
end $$;
