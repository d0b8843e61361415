-- Returns the URIs of the namespaces in the messages of a key, as JSON text { named: {namespace: URI}, taught:
-- {namespace: URI}, rejected: [[namespace, URI]] }. These are the URIs in the site's settings, those from the key's
-- messages, and those that an administrator rejected. Equal texts have an equal meaning. Null for a key that does not
-- exist.
create or replace function hl7_authorities(p_site uuid, p_client text) returns text
language sql stable as $$
  select jsonb_build_object('named', s.assigning_authorities,
           'taught', coalesce(jsonb_object_agg(a.namespace, a.uri) filter (where a.state in ('taught', 'confirmed')), '{}'),
           'rejected', coalesce(jsonb_agg(jsonb_build_array(a.namespace, a.uri) order by a.namespace, a.uri)
             filter (where a.state = 'rejected'), '[]'))::text
    from site s
    left join authority_alias a on a.site_id = s.site_id and a.client_id = p_client
   where s.site_id = p_site
   group by s.site_id, s.assigning_authorities
$$;
