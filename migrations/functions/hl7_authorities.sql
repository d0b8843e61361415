-- What namespaces stand for in the messages of a key, as JSON text { named: {namespace: URI}, taught: {namespace: URI} }: by
-- the site's settings, and by the key's own messages. The same text, the same answer; null for a key that is not there.
create or replace function hl7_authorities(p_site uuid, p_client text) returns text
language sql stable as $$
  select jsonb_build_object('named', s.assigning_authorities, 'taught', coalesce(
           (select jsonb_object_agg(a.namespace, a.uri) from authority_alias a
             where a.site_id = p_site and a.client_id = p_client and a.state in ('taught', 'confirmed')), '{}'))::text
    from site s where s.site_id = p_site
$$;
