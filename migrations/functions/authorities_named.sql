-- A site has given namespaces URIs: what was stored under the name is found under the URI from now on, so patients whose
-- numbers were apart can meet. They are listed as possible duplicates; nothing is rewritten, so that a name can be taken
-- back. p_never: types of numbers that identify nobody. To be called behind the change, in its transaction.
create or replace function authorities_named(p_site uuid, p_never text[]) returns void language plpgsql as $$
begin
  -- Messages that do not know the new names yet end first; those that come after find another state and look again.
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|authorities', 0));
  perform attention_add(p_site, null, json_agg(json_build_object('kind', 'possible-duplicate', 'patients',
            json_build_array(d.a, d.b), 'detail', json_build_object('reason', 'authority-named'))))
     from (
       select distinct least(x.one, x.other) as a, greatest(x.one, x.other) as b
         from (
           select patient_survivor(p_site, m.ids[1]) as one, patient_survivor(p_site, o.id) as other
             from (
               select array_agg(distinct i.id) as ids
                 from patient_identity i
                 join (
                   select 'name:' || upper(trim(e.key)) as domain, e.value as uri from site s
                    cross join lateral jsonb_each_text(s.assigning_authorities) e where s.site_id = p_site
                   union
                   select e.value, e.value from site s
                    cross join lateral jsonb_each_text(s.assigning_authorities) e where s.site_id = p_site
                 ) n on n.domain = i.domain
                where i.site_id = p_site and upper(i.number_type) <> all (p_never)
                group by n.uri, i.value having count(distinct i.id) > 1
               limit 1000
             ) m
            cross join lateral unnest(m.ids[2:]) o(id)
         ) x
        where x.one <> x.other
     ) d;
end $$;
