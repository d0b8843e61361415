-- A page of a search by key as a whole request: who asks is let in (request_begin), the resources are found and read, what is
-- shown is noted in the audit. One statement, whose plans are kept. Found are, of the type,
--   p_patient null: those with the identifier p_value of p_system (null: of any)
--   else: those about this patient, with the token p_value of p_system (null: of any) for p_param (null: all of them)
-- in the order of their ids, after p_after (null: from the first), p_limit with contents of p_bytes together, but the first
-- always. One more, without content, tells that there is a next page. p_searched: names of the parameters. last_updated: a FHIR instant. began_at: of limit_time.
-- Numbers are looked for where the rows are read, as one statement.
-- A patient's resources are looked at one by one for the token, the first hundred of them. Of the few patients who have more, the
-- rest is found by turns: the next resource with the token, the next of the patient behind it, and so on, which passes by
-- what only one of them has.
-- Settings: migrations/README.md, "Plans".
create or replace function fhir_find(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[], p_address text, p_request text,
  p_searched text[], p_type text, p_patient uuid, p_param text, p_value text, p_system text, p_after uuid, p_limit integer, p_bytes bigint)
returns table (type text, id uuid, version integer, last_updated text, sort_key text, meta text, body text,
  began_at bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  began bigint := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol,
    p_scopes);
  ids uuid[];
  walked uuid[];
  page refcursor;
  patient uuid;
  size bigint;
  is_beyond boolean;
  shown uuid[];
  about uuid[];
  ignored text;
begin
  -- The lateral with a limit is a look-up for each row: no estimate can make a scan of it.
  if p_patient is null then
    open page for
      select r.type, r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             r.meta, r.body, r.patient_id
        from (
          select distinct i.id from resource_identifier i
           where i.site_id = p_site and i.type = p_type and i.value = search_key(p_value)
             and (p_system is null or i.system = search_key(p_system))
             and i.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
           order by i.id limit p_limit + 1) k
       cross join lateral (
         select x.* from resource x where x.site_id = p_site and x.type = p_type and x.id = k.id limit 1) r
       order by k.id;
  else
    walked := array(
      select r.id from resource r
       where r.site_id = p_site and r.patient_id = p_patient and r.type = p_type
         and r.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
       order by r.id limit case when p_param is null then p_limit + 1 else 100 end);
    if p_param is null then
      ids := walked;
    else
      ids := array(
        select w.id from unnest(walked) with ordinality w (id, n)
         where exists (
           select from resource_token t
            where t.site_id = p_site and t.type = p_type and t.id = w.id and t.param = p_param
              and t.code = search_key(p_value) and (p_system is null or t.system = search_key(p_system)) offset 0)
         order by w.n limit p_limit + 1);
    end if;
    if p_param is not null and cardinality(ids) <= p_limit and cardinality(walked) = 100 then
      ids := ids || array(
        with recursive step (with_token, of_patient) as (
          select t.id, r.id
            from (select t.id from resource_token t
                   where t.site_id = p_site and t.type = p_type and t.param = p_param and t.code = search_key(p_value)
                     and (p_system is null or t.system = search_key(p_system)) and t.id > walked[100]
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
              where t.site_id = p_site and t.type = p_type and t.param = p_param and t.code = search_key(p_value)
                and (p_system is null or t.system = search_key(p_system)) and t.id >= s.of_patient and t.id > s.with_token
              order by t.id limit 1) t
            left join lateral (
              select r.id from resource r
               where r.site_id = p_site and r.patient_id = p_patient and r.type = p_type and r.id >= t.id
               order by r.id limit 1) r on true)
        select s.with_token from step s where s.of_patient = s.with_token limit p_limit + 1 - cardinality(ids));
    end if;
    open page for
      select r.type, r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             r.meta, r.body, r.patient_id
        from unnest(ids) with ordinality k (id, n)
       cross join lateral (
         select x.* from resource x where x.site_id = p_site and x.type = p_type and x.id = k.id limit 1) r
       order by k.n;
  end if;
  loop
    fetch page into type, id, version, last_updated, meta, body, patient;
    exit when not found;
    size := coalesce(size, 0) + octet_length(body) + octet_length(meta);
    is_beyond := shown is not null and (size > p_bytes or cardinality(shown) = p_limit);
    if is_beyond then
      meta := null;
      body := null;
    else
      shown := shown || id;
      about := about || patient;
    end if;
    began_at := began;
    return next;
    exit when is_beyond;
  end loop;
  close page;
  -- As audit_write would (fhir_read): each once, in order.
  if p_type = 'Patient' then
    about := shown;
  elsif cardinality(about) > 1 then
    about := array(select distinct a from unnest(about) a where a is not null order by a);
  else
    about := array_remove(about, null);
  end if;
  insert into audit (site_id, actor_kind, client_id, address, request_id, action, parts, types, ids, patients, parameters)
    values (p_site, 'key', p_client, p_address, p_request, 'search', '{}',
      case when shown is null then '{}' else array_fill(p_type, array[cardinality(shown)]) end, coalesce(shown, '{}'),
      coalesce(about, '{}'), coalesce(p_searched, '{}'));
  ignored := assert_in_time(p_deadline);
end $$;
