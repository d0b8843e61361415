-- Returns the URIs of the namespaces in the messages of a key, as JSON text with these members:
--   - named: {namespace: URI}, in the site's settings.
--   - taught: {namespace: URI}, that an administrator confirmed, or the only one in the key's messages.
--   - confirmed: [namespace], those of taught that an administrator confirmed.
--   - contested: {namespace: [URI]}, several in the key's messages, of which no administrator has confirmed one.
--   - shared: {namespace: [URI]}, in the messages of the site's other keys; at most 1,000 URIs.
--   - rejected: [[namespace, URI]], that an administrator rejected for the key.
-- Equal texts have an equal meaning. Null for a key that does not exist. PL/pgSQL keeps the plan: before version 18,
-- PostgreSQL plans the body of an SQL function at each call.
create or replace function hl7_authorities(p_site uuid, p_client text) returns text
language plpgsql stable as $$
begin
  return (
    select jsonb_build_object('named', s.assigning_authorities, 'taught', own.taught, 'confirmed', own.confirmed,
             'contested', own.contested, 'shared', other.shared, 'rejected', rejected.pairs)::text
      from site s
     cross join lateral (
       select coalesce(jsonb_object_agg(n.namespace, n.uris -> 0) filter (where n.is_confirmed or n.count = 1), '{}') as taught,
              coalesce(jsonb_agg(n.namespace order by n.namespace) filter (where n.is_confirmed), '[]') as confirmed,
              coalesce(jsonb_object_agg(n.namespace, n.uris) filter (where not n.is_confirmed and n.count > 1), '{}') as contested
         from (
           select a.namespace, bool_or(a.state = 'confirmed') as is_confirmed, count(*) as count,
                  jsonb_agg(a.uri order by a.state <> 'confirmed', a.created_at, a.uri) as uris
             from authority_alias a
            where a.site_id = p_site and a.client_id = p_client and a.state in ('taught', 'confirmed')
            group by a.namespace) n) own
     cross join lateral (
       select coalesce(jsonb_object_agg(n.namespace, n.uris), '{}') as shared
         from (
           select o.namespace, jsonb_agg(distinct o.uri) as uris
             from (
               select a.namespace, a.uri from authority_alias a
                where a.site_id = p_site and a.client_id <> p_client and a.state in ('taught', 'confirmed')
                order by a.namespace, a.uri limit 1000) o
            group by o.namespace) n) other
     cross join lateral (
       select coalesce(jsonb_agg(jsonb_build_array(a.namespace, a.uri) order by a.namespace, a.uri), '[]') as pairs
         from authority_alias a
        where a.site_id = p_site and a.client_id = p_client and a.state = 'rejected') rejected
     where s.site_id = p_site);
end $$;
