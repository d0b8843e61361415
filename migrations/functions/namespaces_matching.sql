-- Returns the pairs of patients that get a common identifier if namespaces have URIs. One identifier has a namespace of p_new. The
-- other has its URI, or another namespace with this URI. At most 1,000 identifiers count.
--   - p_new, p_all: { namespace: URI }, the new URIs, and all that apply.
--   - p_never: type codes that identify no patient.
create or replace function namespaces_matching(p_site uuid, p_new jsonb, p_all jsonb, p_never text[])
returns table (a uuid, b uuid) language plpgsql stable
set enable_seqscan = off
as $$
begin
  return query
    select distinct least(x.one, x.other), greatest(x.one, x.other)
      from (
        select patient_survivor(p_site, m.one) as one, patient_survivor(p_site, m.other) as other
          from (
            select distinct i.id as one, o.id as other
              from jsonb_each_text(p_new) n
              join patient_identity i
                on i.site_id = p_site and i.authority = search_key('name:' || upper(trim(n.key))) and i.authority like 'name:%'
               and upper(i.number_type) <> all (p_never)
             cross join lateral (
               select e.id from patient_identity e
                where e.site_id = p_site and e.value = i.value and e.id <> i.id and upper(e.number_type) <> all (p_never)
                  and (e.authority = search_key(n.value) or e.authority in (
                        select search_key('name:' || upper(trim(t.key))) from jsonb_each_text(p_all) t
                         where t.value = n.value))
                limit 20) o
            limit 1000
          ) m
      ) x
     where x.one <> x.other;
end $$;
