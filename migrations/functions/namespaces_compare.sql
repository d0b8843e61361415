-- Runs after namespaces got URIs: data stored under the name is found under the URI from now on, so patients with
-- separate identifiers can match. They are listed as possible duplicates. Nothing is rewritten, so that the URI can be
-- removed again. Call it after the change, in its transaction.
--   - p_new, p_all: { namespace: URI }, the new URIs, and all that apply.
--   - p_never: type codes that identify no patient.
--   - p_reason: the reason for the list entry, for the detail.
create or replace function namespaces_compare(p_site uuid, p_new jsonb, p_all jsonb, p_never text[], p_reason text)
returns void language plpgsql
set enable_seqscan = off
as $$
begin
  -- Messages that do not know the new names yet end first; those that come after find another state and look again.
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|authorities', 0));
  perform attention_add(p_site, null, json_agg(json_build_object('kind', 'possible-duplicate', 'patients',
            json_build_array(d.a, d.b), 'detail', json_build_object('reason', p_reason))))
     from (
       select distinct least(x.one, x.other) as a, greatest(x.one, x.other) as b
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
                           select search_key('name:' || upper(trim(a.key))) from jsonb_each_text(p_all) a
                            where a.value = n.value))
                   limit 20) o
               limit 1000
             ) m
         ) x
        where x.one <> x.other
     ) d;
end $$;
