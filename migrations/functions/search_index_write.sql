-- Replaces the search rows of one resource; the arguments have the shapes of resource_write's rows. p_is_new: the resource has no
-- search rows yet. The caller has the resource's row locked. Settings are the caller's.
create or replace function search_index_write(p_site uuid, p_type text, p_id uuid, p_is_new boolean, p_patient uuid,
  p_identifiers json, p_tokens json, p_dates json, p_search json, p_parts json, p_report json) returns void language plpgsql as $$
declare
  v_accession text := search_key(p_report ->> 'accession');
  v_study uuid;
  v_old record;
  v_name text;
begin
  -- Unchanged rows stay, because an update seldom changes an identifier or a code.
  if not p_is_new then
    delete from resource_identifier i
     where i.site_id = p_site and i.type = p_type and i.id = p_id
       and (i.system, i.value) not in (
         select search_key(e ->> 0), search_key(e ->> 1) from json_array_elements(p_identifiers) e);
    delete from resource_token t
     where t.site_id = p_site and t.type = p_type and t.id = p_id
       and (t.param, t.system, t.code) not in (
         select e ->> 0, search_key(e ->> 1), search_key(e ->> 2) from json_array_elements(p_tokens) e);
    delete from resource_date d
     where d.site_id = p_site and d.type = p_type and d.id = p_id
       and d.param not in (select e ->> 0 from json_array_elements(p_dates) e);
  end if;
  -- Most resources have no number, and many no date: a statement that finds nothing to do has to be begun all the same.
  if json_array_length(p_identifiers) > 0 then
    insert into resource_identifier (site_id, type, system, value, id)
      select p_site, p_type, search_key(e ->> 0), search_key(e ->> 1), p_id from json_array_elements(p_identifiers) e
      on conflict do nothing;
  end if;
  if json_array_length(p_tokens) > 0 then
    insert into resource_token (site_id, type, param, system, code, id)
      select p_site, p_type, e ->> 0, search_key(e ->> 1), search_key(e ->> 2), p_id from json_array_elements(p_tokens) e
      on conflict do nothing;
  end if;
  if json_array_length(p_dates) > 0 then
    insert into resource_date as d (site_id, type, id, param, from_at, before_at, from_is_local, before_is_local, patient_id)
      select p_site, p_type, p_id, e ->> 0, (e ->> 1)::timestamptz, (e ->> 2)::timestamptz, (e ->> 3)::boolean, (e ->> 4)::boolean,
             p_patient
        from json_array_elements(p_dates) e
      on conflict (site_id, type, id, param) do update set from_at = excluded.from_at, before_at = excluded.before_at,
        from_is_local = excluded.from_is_local, before_is_local = excluded.before_is_local, patient_id = excluded.patient_id
      where (d.from_at, d.before_at, d.from_is_local, d.before_is_local, d.patient_id) is distinct from
        (excluded.from_at, excluded.before_at, excluded.from_is_local, excluded.before_is_local, excluded.patient_id);
  end if;

  if p_type = 'Patient' then
    if not p_is_new then
      select s.families, s.givens into v_old from patient_search s where s.site_id = p_site and s.id = p_id;
      if v_old.families <> coalesce(p_parts ->> 'families', '') then
        foreach v_name in array string_to_array(v_old.families, E'\n') loop
          delete from patient_name n where n.site_id = p_site and n.part = 'family' and n.name = left(v_name, 200) and n.id = p_id;
        end loop;
      end if;
      if v_old.givens <> coalesce(p_parts ->> 'givens', '') then
        foreach v_name in array string_to_array(v_old.givens, E'\n') loop
          delete from patient_name n where n.site_id = p_site and n.part = 'given' and n.name = left(v_name, 200) and n.id = p_id;
        end loop;
      end if;
    end if;
    insert into patient_name (site_id, part, name, id)
      select p_site, n.part, left(n.name, 200), p_id
        from (select 'family' as part, string_to_table(p_parts ->> 'families', E'\n') as name
              union all select 'given', string_to_table(p_parts ->> 'givens', E'\n')) n
       where n.name <> ''
      on conflict do nothing;
    -- A release before this one says nothing of the parts.
    insert into patient_search (site_id, id, names, name_sort, birth_date, gender, families, givens, exact)
      values (p_site, p_id, p_search ->> 'names', p_search ->> 'nameSort', p_search ->> 'birthDate',
        p_search ->> 'gender', coalesce(p_parts ->> 'families', ''), coalesce(p_parts ->> 'givens', ''),
        coalesce(p_parts ->> 'exact', ''))
      on conflict (site_id, id) do update set names = excluded.names, name_sort = excluded.name_sort,
        birth_date = excluded.birth_date, gender = excluded.gender, families = excluded.families,
        givens = excluded.givens, exact = excluded.exact;
  elsif p_type = 'DiagnosticReport' then
    -- Reports with one accession number share the patient's study. A report without one has a separate study with its id.
    -- A study without reports stays, because another writer may be about to use it.
    if not p_is_new then
      -- A report that keeps its study does not lock the study, which other reports may share.
      select s.study_id into v_study
        from report o join study s on s.site_id = o.site_id and s.study_id = o.study_id
       where o.site_id = p_site and o.report_id = p_id and s.patient_id is not distinct from p_patient
         and s.accession is not distinct from v_accession and (v_accession is not null or s.study_id = p_id);
    end if;
    if v_study is null and v_accession is null then
      insert into study as s (site_id, study_id, patient_id) values (p_site, p_id, p_patient)
        on conflict (site_id, study_id) do update set patient_id = excluded.patient_id
        returning s.study_id into v_study;
    elsif v_study is null then
      insert into study as s (site_id, study_id, patient_id, accession)
        values (p_site, gen_random_uuid(), p_patient, v_accession)
        on conflict (site_id, patient_id, accession) where accession is not null
        do update set accession = excluded.accession
        returning s.study_id into v_study;
    end if;
    insert into report (site_id, report_id, study_id, state)
      values (p_site, p_id, v_study, p_report ->> 'state')
      on conflict (site_id, report_id) do update set study_id = excluded.study_id, state = excluded.state;
  end if;
end $$;
