-- Runs after a site has given namespaces URIs: lists patients whose identifiers match after the last change
-- (namespaces_compare). The array p_never has the type codes that identify no patient. Call it after the change, in its
-- transaction.
create or replace function authorities_named(p_site uuid, p_never text[]) returns void language plpgsql as $$
begin
  perform namespaces_compare(p_site, n.names, n.named, p_never, 'authority-named')
     from (
       select jsonb_object_agg(e.key, e.value) as names, c.named
         from (
           select x.after::jsonb -> 'assigning_authorities' as named, x.before::jsonb -> 'assigning_authorities' as was
             from site_change x where x.site_id = p_site order by x.version desc limit 1) c
        cross join lateral jsonb_each_text(c.named) e
        where c.was ->> e.key is distinct from e.value
        group by c.named
     ) n;
end $$;
