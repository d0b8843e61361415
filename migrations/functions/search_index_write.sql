-- Replaces the search rows of resources. p_rows: as in resource_write, with another mode. It is 'create' for a resource without
-- search rows. A resource with 'keep' or 'unchanged' keeps its rows. The caller has the resources' rows locked. Settings are the
-- caller's.
create or replace function search_index_write(p_site uuid, p_rows resource_row[]) returns void language plpgsql as $$
declare
  r record;
  -- Without the resources that keep their rows.
  writes resource_row[] := p_rows;
  types text[];
  v_old record;
  v_name text;
begin
  if cardinality(p_rows) = 1 then
    if p_rows[1].mode in ('keep', 'unchanged') then return; end if;
    types := array[p_rows[1].type];
  else
    writes := array(select x from unnest(p_rows) x where (x.mode in ('keep', 'unchanged')) is not true);
    types := array(select distinct x.type from unnest(writes) x);
  end if;
  if types = '{}' then return; end if;

  -- Most writes are of one new resource without an identifier or a date. Starting a statement costs time even if it finds nothing
  -- to do.
  if cardinality(writes) > 1 or writes[1].mode is distinct from 'create' then
    -- Unchanged rows stay, because an update seldom changes an identifier or a code.
    for r in
      select x.type, x.id, x.identifiers, x.tokens, x.dates, x.parts from unnest(writes) x where x.mode is distinct from 'create'
    loop
      delete from resource_identifier i
       where i.site_id = p_site and i.type = r.type and i.id = r.id
         and (i.system, i.value) not in (
           select search_key(e ->> 0), search_key(e ->> 1) from json_array_elements(r.identifiers) e);
      delete from resource_token t
       where t.site_id = p_site and t.id = r.id and (t.code_key | t.system_key) & 15 = token_type(r.type)
         and (t.code_key, t.system_key) not in (
           select token_key(r.type, e ->> 0, e ->> 2), token_key(r.type, e ->> 0, e ->> 1)
             from json_array_elements(r.tokens) e);
      delete from resource_date d
       where d.site_id = p_site and d.id = r.id and d.date_key = any (date_keys(r.type))
         and d.date_key not in (select date_key(r.type, e ->> 0) from json_array_elements(r.dates) e);
      continue when r.type <> 'Patient';
      select s.families, s.givens into v_old from patient_search s where s.site_id = p_site and s.id = r.id;
      if v_old.families <> coalesce(r.parts ->> 'families', '') then
        foreach v_name in array string_to_array(v_old.families, E'\n') loop
          delete from patient_name n where n.site_id = p_site and n.part = 'family' and n.name = left(v_name, 200) and n.id = r.id;
        end loop;
      end if;
      if v_old.givens <> coalesce(r.parts ->> 'givens', '') then
        foreach v_name in array string_to_array(v_old.givens, E'\n') loop
          delete from patient_name n where n.site_id = p_site and n.part = 'given' and n.name = left(v_name, 200) and n.id = r.id;
        end loop;
      end if;
    end loop;
  end if;
  if cardinality(writes) > 1 or json_array_length(writes[1].identifiers) > 0 then
    insert into resource_identifier (site_id, type, system, value, id)
      select p_site, x.type, search_key(e ->> 0), search_key(e ->> 1), x.id
        from unnest(writes) x cross join json_array_elements(x.identifiers) e
      on conflict do nothing;
  end if;
  if cardinality(writes) > 1 or json_array_length(writes[1].tokens) > 0 then
    insert into resource_token (site_id, id, code_key, system_key)
      select p_site, x.id, token_key(x.type, e ->> 0, e ->> 2), token_key(x.type, e ->> 0, e ->> 1)
        from unnest(writes) x cross join json_array_elements(x.tokens) e
      on conflict do nothing;
  end if;
  if cardinality(writes) > 1 or json_array_length(writes[1].dates) > 0 then
    insert into resource_date as d (site_id, id, date_key, from_at, before_at, from_is_local, before_is_local, patient_id)
      select p_site, x.id, date_key(x.type, e ->> 0), (e ->> 1)::timestamptz, (e ->> 2)::timestamptz, (e ->> 3)::boolean, (e ->> 4)::boolean,
             x.patient
        from unnest(writes) x cross join json_array_elements(x.dates) e
      on conflict (site_id, id, date_key) do update set from_at = excluded.from_at, before_at = excluded.before_at,
        from_is_local = excluded.from_is_local, before_is_local = excluded.before_is_local, patient_id = excluded.patient_id
      where (d.from_at, d.before_at, d.from_is_local, d.before_is_local, d.patient_id) is distinct from
        (excluded.from_at, excluded.before_at, excluded.from_is_local, excluded.before_is_local, excluded.patient_id);
  end if;

  if 'Patient' = any (types) then
    insert into patient_name (site_id, part, name, id)
      select p_site, n.part, left(n.name, 200), x.id
        from unnest(writes) x
       cross join lateral (
         select 'family' as part, string_to_table(x.parts ->> 'families', E'\n') as name
         union all select 'given', string_to_table(x.parts ->> 'givens', E'\n')) n
       where x.type = 'Patient' and n.name <> ''
      on conflict do nothing;
    -- An earlier release does not send the parts.
    insert into patient_search (site_id, id, names, name_sort, birth_date, gender, families, givens, exact)
      select p_site, x.id, x.search ->> 'names', x.search ->> 'nameSort', x.search ->> 'birthDate', x.search ->> 'gender',
             coalesce(x.parts ->> 'families', ''), coalesce(x.parts ->> 'givens', ''), coalesce(x.parts ->> 'exact', '')
        from unnest(writes) x where x.type = 'Patient'
      on conflict (site_id, id) do update set names = excluded.names, name_sort = excluded.name_sort,
        birth_date = excluded.birth_date, gender = excluded.gender, families = excluded.families,
        givens = excluded.givens, exact = excluded.exact;
  end if;
  if 'DiagnosticReport' = any (types) then
    -- Reports with one accession number share the patient's study. A report without one has a separate study with its id.
    -- A study without reports stays, because another writer may be about to use it.
    with reports as materialized (
      select x.id, x.patient, search_key(x.report ->> 'accession') as accession, x.report ->> 'state' as state, k.study_id as kept
        from unnest(writes) x
        -- A report that keeps its study does not lock the study, which other reports may share.
        left join lateral (
          select s.study_id
            from (select o.study_id from report o where o.site_id = p_site and o.report_id = x.id limit 1) o
           cross join lateral (
             select s.* from study s where s.site_id = p_site and s.study_id = o.study_id limit 1) s
           where x.mode is distinct from 'create' and s.patient_id is not distinct from x.patient
             and s.accession is not distinct from search_key(x.report ->> 'accession')
             and (s.accession is not null or s.study_id = x.id)) k on true
       where x.type = 'DiagnosticReport'
    ), separate as (
      insert into study (site_id, study_id, patient_id)
        select p_site, o.id, o.patient from reports o where o.kept is null and o.accession is null order by o.id
        on conflict (site_id, study_id) do update set patient_id = excluded.patient_id
    ), shared as (
      insert into study as s (site_id, study_id, patient_id, accession)
        select p_site, gen_random_uuid(), d.patient, d.accession
          from (select distinct o.patient, o.accession from reports o where o.kept is null and o.accession is not null) d
         order by d.patient, d.accession
        on conflict (site_id, patient_id, accession) where accession is not null
        do update set accession = excluded.accession
        returning s.study_id, s.patient_id, s.accession
    )
    insert into report (site_id, report_id, study_id, state)
      select p_site, o.id, coalesce(o.kept, s.study_id, o.id), o.state
        from reports o left join shared s on s.accession = o.accession and s.patient_id is not distinct from o.patient
      on conflict (site_id, report_id) do update set study_id = excluded.study_id, state = excluded.state;
  end if;
end $$;
