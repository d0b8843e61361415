-- The FHIR API: indexes in the order in which pages are walked, and writes that depend on what is found.

-- The id before the system, so that the resources with one code or identifier value come out of the index in page
-- order, whatever their system; codes and values that several systems share are rare. The index for look-ups by id begins
-- with it, so that it is never taken for another search, and is newer than the primary key: see resource in 0001.
alter table resource_identifier
  drop constraint resource_identifier_pkey,
  add primary key (site_id, type, value, id, system);
alter table resource_token
  drop constraint resource_token_pkey,
  add primary key (site_id, type, param, code, id, system);
drop index resource_identifier_of, resource_token_of;
create index resource_identifier_of on resource_identifier (id, site_id, type);
create index resource_token_of on resource_token (id, site_id, type);

-- Folded text is compared byte by byte: the same order and the same speed under every locale. '' stands for an absent
-- birth date, so that a page cursor can compare rows.
alter table patient_search
  alter column names type text collate "C",
  alter column name_sort type text collate "C",
  alter column birth_date type text collate "C",
  alter column birth_date set not null;

-- Newer than the indexes that hold the same columns: see resource in 0001.
alter table patient_search drop constraint patient_search_pkey, add primary key (site_id, id);
alter table report drop constraint report_pkey, add primary key (site_id, report_id);

-- A search must not have to read a list of pending entries first.
alter index patient_search_names set (fastupdate = off);

-- Conditional writes and transactions (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11). Conditions are resolved first, then
-- everything is written, all or nothing. The caller holds advisory locks on what identifies the resources, taken by an
-- earlier statement, so that p_matches is what the winner of a race has left.
--
-- p_rows: as of resource_write. Where a row depends on a condition, its id is the condition's placeholder, a new uuid
-- that also stands in every text that refers to it, and its mode is '?' followed by the placeholder.
-- p_conditions: [{ n, kind: 'create' | 'update' | 'reference', type, placeholder, required: id | null, local: [uuid] }], in
-- the order in which they are resolved. local: resources of the same request that would match as well.
-- p_matches: [[n, id]], what the site has, two at most for each condition.
--
-- Rows that come back: for each condition ('condition', n, outcome, id), outcome 'resolved' (id null: nothing was found,
-- the placeholder is the new id), or why nothing at all was written: 'ambiguous', 'no-match' (a reference), 'absent' or
-- 'another-id' (an update whose body names an id); then those of resource_write ('row', ordinal, …).
-- Raises what resource_write raises, and GW409 with the positions of two rows that would write one resource.
create function resource_transaction(p_site uuid, p_rows json, p_conditions json, p_matches json)
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

-- The entries of a batch, each for itself (FHIR R4 http, 3.1.0.11.1): p_entries is [{ rows, conditions }], the arguments
-- of resource_transaction. An entry that raises comes back as ('failed', SQLSTATE) and leaves nothing; entry is its
-- position.
create function resource_batch(p_site uuid, p_entries json, p_matches json)
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
    begin
      return query select e.n, t.part, t.ordinal, t.outcome, t.id, t.version, t.last_updated
        from resource_transaction(p_site, e.rows, e.conditions, p_matches) t;
    exception when sqlstate 'GW404' or sqlstate 'GW409' or sqlstate 'GW412' or sqlstate 'GW422' then
      return query select e.n, 'failed', 0, sqlstate, null::uuid, null::integer, null::timestamptz;
    end;
  end loop;
end $$;

-- A transaction that reads what is not there fails as a whole: raises GW404 with p_position in DETAIL.
create function require_resource(p_site uuid, p_type text, p_id uuid, p_version integer, p_position integer)
returns void language plpgsql as $$
begin
  if not exists (select from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id
                    and r.version = coalesce(p_version, r.version))
     and not exists (select from resource_history h where h.site_id = p_site and h.type = p_type and h.id = p_id
                    and h.version = p_version) then
    raise exception 'no such resource' using errcode = 'GW404', detail = json_build_array(p_position)::text;
  end if;
end $$;

-- Holds the caller's transaction until no other holds one of these keys: identifiers that two writers could both find
-- missing. In one order, so that two callers with several keys cannot deadlock; who waits too long is told to try again.
create function lock_keys(p_site uuid, p_keys text[]) returns void language plpgsql set lock_timeout = '10s' as $$
declare
  k bigint;
begin
  for k in select distinct hashtextextended(p_site || '|' || u.key, 0) as hash from unnest(p_keys) u(key) order by hash loop
    perform pg_advisory_xact_lock(k);
  end loop;
end $$;
