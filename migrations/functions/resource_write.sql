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
  lags boolean;
  has_members boolean;
  missing json;
  at timestamptz := write_time();
  writer bigint := pg_current_xact_id()::text::bigint;
  -- For the audit: every row, and its patient before the write.
  noted audit_item[] := '{}';
  -- '"id":version' of each version that a client makes.
  made text;
  ignored text;
begin
  -- The offset forces a look-up for each row; a join could read every patient of the site. The search for the patient in these
  -- rows is the last one, because it parses their text again.
  select bool_or(x.indexed is null or x.indexed < 2), bool_or(x.members is not null),
         json_agg(x.n - 1) filter (where x.mode <> 'keep' and x.patient is not null
           and not exists (select from resource p
                            where p.site_id = p_site and p.type = 'Patient' and p.id = x.patient offset 0)
           and not exists (select from json_to_recordset(p_rows) c(type text, id uuid, mode text)
                            where c.type = 'Patient' and c.mode in ('create', 'upsert') and c.id = x.patient offset 0))
    into lags, has_members, missing
    from rows from (json_to_recordset(p_rows) as (indexed integer, mode text, patient uuid, members json)) with ordinality
         x(indexed, mode, patient, members, n);
  if lags then
    ignored := search_lag(p_site, 1);
  end if;
  if missing is not null then
    raise exception 'a referenced patient is not in the site' using errcode = 'GW422', detail = missing::text;
  end if;

  if has_members then
    -- No foreign key protects members: an erasure of a member waits for this write, or this write for the erasure (patient_erase).
    perform from resource p
      where p.site_id = p_site and p.type = 'Patient'
        and p.id = any (array(select json_array_elements_text(x.members)::uuid from json_to_recordset(p_rows) x(members json)))
      order by p.id for key share;
  end if;

  -- Patients first, for the foreign key; then by id, so that two writers lock in one order and cannot deadlock.
  for r in
    select (x.n - 1)::integer as n, x.*
      from rows from (json_to_recordset(p_rows) as (type text, id uuid, mode text, expect integer[], "unmodifiedSince" timestamptz,
             noted text, meta text, body text, patient uuid, identifiers json, tokens json, dates json, search json, parts json,
             report json, indexed integer, writer text, known json, members json)) with ordinality
             x(type, id, mode, expect, unmodified, noted, meta, body, patient, identifiers, tokens, dates, search, parts, report, indexed,
               writer, known, members, n)
     order by x.type <> 'Patient', x.id, x.n
  loop
    ordinal := r.n;
    id := r.id;
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
       or date_trunc('second', cur.last_updated) > r.unmodified then
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
      -- A message may teach by which numbers a patient is known whose record it does not change.
      if r.mode <> 'keep' and r.writer = 'message' and r.known is not null then
        ignored := patient_rows_write(p_site, r.id, false, r.writer, r.known);
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
        values (p_site, r.type, r.id, version, last_updated, r.meta, r.body, r.patient, writer);
      noted := noted || row('create', r.type, r.id, r.patient)::audit_item;
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
             meta = r.meta, body = r.body, patient_id = r.patient, written_by = greatest(writer, cur.written_by)
       where c.site_id = p_site and c.type = r.type and c.id = r.id;
      if r.writer = 'client' then
        ignored := precedence_stamp(p_site, r.type, r.id, cur.body, r.body, resource_write.last_updated);
      end if;
    end if;
    ignored := search_index_write(p_site, r.type, r.id, outcome = 'created', r.patient, r.identifiers, r.tokens, r.dates,
      r.search, r.parts, r.report);
    if r.known is not null then
      ignored := patient_rows_write(p_site, r.id, outcome = 'created', r.writer, r.known);
    end if;
    if r.writer = 'client' then
      made := concat_ws(',', made, '"' || r.id || '":' || version);
    end if;
    return next;
  end loop;
  ignored := audit_note(noted);
  if made is not null then
    ignored := set_config('gateway.versions', concat_ws(',', nullif(current_setting('gateway.versions', true), ''), made), true);
  end if;
end $$;
