-- The body of a Patient without the links to these patients, or of a Group without these members. The rest of the text stays as it
-- was written.
create or replace function patient_links_without(p_body text, p_patients uuid[]) returns text
language sql immutable as $$
  select string_agg(to_json(m.key)::text || ':' || m.value, ',' order by m.n)
    from (
      select e.key, e.n,
             case when e.key in ('link', 'member') then (
               select '[' || string_agg(l.value::text, ',' order by l.n) || ']'
                 from json_array_elements(e.value) with ordinality l(value, n)
                where coalesce(substring(coalesce(l.value -> 'other', l.value -> 'entity') ->> 'reference'
                        from '^Patient/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})')::uuid <> all (p_patients), true))
             else e.value::text end as value
        from json_each(('{' || p_body || '}')::json) with ordinality e(key, value, n)) m
   where m.value is not null
$$;
