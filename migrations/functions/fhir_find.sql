-- A page of a search by key, in the order of the ids.
-- - p_after: the id before the page; null: the first page.
-- - p_patient: the resources about this patient, with the token p_value of p_system (null: of any) for p_param (null: all).
--   Null: the resources with the identifier p_value of p_system (null: of any). With p_param 'identifiers': the resources with one
--   of several, p_value: JSON [[value, system or null], …]. Each is looked up by itself, up to a page. With p_param 'name': the
--   patients with a name like p_value. A rare name needs its index. For a common name, a walk of the site finds a page sooner. So
--   PostgreSQL plans this small query for each name, but not for the site (edge/store/sql.ts). With p_param 'family' or 'given': the
--   patients with such a name that begins with p_value, of at most 200 characters. With 'family', p_system is the beginning of a given
--   name; null: of any. Up to 2,000 names are listed and sorted; for a more common beginning a walk of the site finds a page sooner.
--   Two common beginnings may be rare together, so PostgreSQL plans the query for them. If a page has room for the patients of the
--   family name, the given names are not listed.
-- - p_limit, p_page_bytes: the resources of a page, and the sum of their contents. The first resource always fits.
-- - p_answer_bytes: the sum of the resources of an answer. p_row_bytes: the size of a row beside its content.
-- One row more, without content, shows that another page follows.
-- A single request passes p_deadline to p_searched. Then the function checks the caller (request_begin) and writes the audit
-- row. A statement of a bundle leaves them out, because the first and last statements of the bundle do both.
-- In a bundle it notes the resources for the audit. Content that does not fit the answer is null (answer_note).
-- last_updated: a FHIR instant. began_at: of limit_time. Settings: migrations/README.md, "Plans".
--
-- The first hundred resources of a patient are probed for the token, one by one. Few patients have more. Their other resources
-- are found in turns: the next resource with the token, the next resource of the patient after it, and so on. This skips
-- resources that only one of the two has.
create or replace function fhir_find(p_site uuid, p_type text, p_patient uuid, p_param text, p_value text, p_system text,
  p_after uuid, p_limit integer, p_page_bytes bigint, p_answer_bytes bigint, p_row_bytes integer,
  p_deadline bigint default null, p_lock_ms integer default null, p_work_ms integer default null, p_client text default null,
  p_jti text default null, p_audience text default null, p_protocol text default null, p_scopes text default null,
  p_address text default null, p_request text default null, p_searched text[] default null)
returns table (type text, id uuid, version integer, last_updated text, sort_key text, meta text, body text,
  began_at bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  is_alone boolean := p_deadline is not null;
  -- Computed first: policies let an index serve a condition with coalesce only as a filter.
  v_after uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
  walked uuid[];
  -- As token_key.
  v_code bigint;
  v_system bigint;
  patient uuid;
  total bigint := 0;
  -- The rest of the bundle's answer; null: any resource fits. A single page never uses up the budget of an answer.
  room bigint;
  is_beyond boolean := false;
  shown uuid[] := '{}';
  patients uuid[];
  items audit_item[];
  ignored text;
begin
  if is_alone then
    began_at := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  else
    room := nullif(current_setting('gateway.answer_room', true), '');
  end if;
  if p_patient is null and p_param is null then
    ids := array(
      select distinct i.id from resource_identifier i
       where i.site_id = p_site and i.type = p_type and i.value = search_key(p_value)
         and (p_system is null or i.system = search_key(p_system)) and i.id > v_after
       order by i.id limit p_limit + 1);
  elsif p_patient is null and p_param = 'identifiers' then
    ids := array(
      select distinct e.id
        from (select search_key(j.token ->> 0) as value, search_key(j.token ->> 1) as system
                from json_array_elements(p_value::json) j (token) offset 0) k
       cross join lateral (
         select distinct i.id from resource_identifier i
          where i.site_id = p_site and i.type = p_type and i.value = k.value and (k.system is null or i.system = k.system)
            and i.id > v_after
          order by i.id limit p_limit + 1) e
       order by e.id limit p_limit + 1);
  elsif p_patient is null and p_param in ('family', 'given') then
    ignored := search_require(p_site, 2);
    ids := array(
      select n.id from patient_name n
       where n.site_id = p_site and n.part = p_param and n.name >= p_value and n.name < p_value || E'\U0010ffff'
       limit 2001);
    if p_system is not null and cardinality(ids) > p_limit then
      walked := array(
        select n.id from patient_name n
         where n.site_id = p_site and n.part = 'given' and n.name >= p_system and n.name < p_system || E'\U0010ffff'
         limit 2001);
      if cardinality(walked) < cardinality(ids) then
        ids := walked;
      end if;
    end if;
    if cardinality(ids) <= 2000 then
      ids := array(
        select l.id
          from (select distinct u.id from unnest(ids) u (id) where u.id > v_after order by u.id) l
         where p_system is null or exists (
           select from patient_search d
            where d.site_id = p_site and d.id = l.id and strpos(d.families, E'\n' || p_value) > 0
              and strpos(d.givens, E'\n' || p_system) > 0 offset 0)
         order by l.id limit p_limit + 1);
    elsif p_system is null then
      ids := array(
        select d.id from patient_search_here d
         where d.site_id = p_site and d.id > v_after
           and strpos(case p_param when 'family' then d.families else d.givens end, E'\n' || p_value) > 0
         order by d.id limit p_limit + 1);
    else
      execute
        'select array('
          'select d.id from patient_search_here d'
          ' where d.site_id = (select $1) and d.names like $2 and d.names like $3 and d.id > $6'
            ' and case when strpos(d.families, E''\n'' || $4) > 0 and strpos(d.givens, E''\n'' || $5) > 0 then true else false end'
          ' order by d.id limit $7)'
        into ids
        using p_site, '%' || regexp_replace(p_value, '([\\%_])', '\\\1', 'g') || '%',
          '%' || regexp_replace(p_system, '([\\%_])', '\\\1', 'g') || '%', p_value, p_system,
          v_after, p_limit + 1;
    end if;
  elsif p_patient is null then
    execute
      'select array('
        'select d.id from patient_search_here d where d.site_id = (select $1) and d.names like $2'
        ' and d.id > $3 order by d.id limit $4)'
      into ids
      using p_site, p_value, v_after, p_limit + 1;
  else
    v_code := token_key(p_type, p_param, p_value);
    v_system := token_key(p_type, p_param, p_system);
    walked := array(
      select r.id from resource r
       where r.site_id = p_site and r.patient_id = p_patient and r.type = p_type and r.id > v_after
       order by r.id limit case when p_param is null then p_limit + 1 else 100 end);
    if p_param is null then
      ids := walked;
    else
      ids := array(
        select w.id from unnest(walked) with ordinality w (id, n)
         where exists (
           select from resource_token t
            where t.site_id = p_site and t.code_key = v_code and t.id = w.id and (v_system is null or t.system_key = v_system) offset 0)
         order by w.n limit p_limit + 1);
    end if;
    if p_param is not null and cardinality(ids) <= p_limit and cardinality(walked) = 100 then
      ids := ids || array(
        with recursive step (with_token, of_patient) as (
          select t.id, r.id
            from (select t.id from resource_token t
                   where t.site_id = p_site and t.code_key = v_code and (v_system is null or t.system_key = v_system)
                     and t.id > walked[100]
                   order by t.id limit 1) t
            left join lateral (
              select r.id from resource r
               where r.site_id = p_site and r.patient_id = p_patient and r.type = p_type and r.id >= t.id
               order by r.id limit 1) r on true
          union all
          select t.id, r.id
            from step s
           cross join lateral (
             select t.id from resource_token t
              where t.site_id = p_site and t.code_key = v_code and (v_system is null or t.system_key = v_system)
                and t.id >= s.of_patient and t.id > s.with_token
              order by t.id limit 1) t
            left join lateral (
              select r.id from resource r
               where r.site_id = p_site and r.patient_id = p_patient and r.type = p_type and r.id >= t.id
               order by r.id limit 1) r on true)
        select s.with_token from step s where s.of_patient = s.with_token limit p_limit + 1 - cardinality(ids));
    end if;
  end if;
  -- The lateral with a limit is a look-up for each row, which no estimate turns into a scan.
  for type, id, version, last_updated, meta, body, patient in
    select r.type, r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           r.meta, r.body, r.patient_id
      from unnest(ids) with ordinality k (id, n)
     cross join lateral (
       select x.* from resource x where x.site_id = p_site and x.type = p_type and x.id = k.id limit 1) r
     order by k.n
  loop
    -- To call the function for each row would cost as much as the row.
    if strpos(body, '"data":["') > 0 then
      body := document_fill(body);
    end if;
    total := total + octet_length(body) + octet_length(meta);
    if cardinality(shown) = p_limit or total > p_page_bytes and shown <> '{}'
       or total + p_row_bytes * (cardinality(shown) + 1) > room then
      if shown <> '{}' then
        total := total - octet_length(body) - octet_length(meta);
      end if;
      is_beyond := true;
      meta := null;
      body := null;
      return next;
      exit;
    end if;
    shown := shown || id;
    if is_alone then
      patients := patients || patient;
    else
      items := items || row('search', p_type, id, patient)::audit_item;
    end if;
    return next;
  end loop;
  if is_alone then
    ignored := audit_shown(p_site, p_client, p_address, p_request, 'search', p_type, shown, patients, p_searched);
    ignored := assert_in_time(p_deadline);
  elsif is_beyond or shown <> '{}' then
    -- One size for all rows, because all shown rows fit. Without a shown row, the first row does not fit.
    if answer_note(array[null]::audit_item[], array[total + p_row_bytes * greatest(cardinality(shown), 1)], p_answer_bytes) = 1 then
      ignored := audit_note(items);
    end if;
  end if;
end $$;
