-- Stores the URIs for which the namespaces in a key's messages appear to be used: p_rows is [{ namespace, uri, isTaught
-- }], or null. A namespace with several taught URIs is contested until an administrator confirms one. After that, a
-- taught URI is only shown, as a URI that patient records suggest is.
create or replace function authority_alias_add(p_site uuid, p_client text, p_message uuid, p_rows json) returns void
language plpgsql as $$
declare
  r record;
begin
  if coalesce(json_array_length(p_rows), 0) = 0 then return; end if;
  -- If two messages teach one namespace at the same time, this lock decides which is first.
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|aliases|' || p_client, 0));
  for r in select x.* from json_to_recordset(p_rows) as x(namespace text, uri text, "isTaught" boolean) loop
    insert into authority_alias as a (site_id, client_id, namespace, uri, state, first_message)
      select p_site, p_client, r.namespace, r.uri,
             case when r."isTaught" and not exists (
                    select from authority_alias u where u.site_id = p_site and u.client_id = p_client
                       and u.namespace = r.namespace and u.state = 'confirmed')
                  then 'taught' else 'shown' end, p_message
      on conflict (site_id, client_id, namespace, uri) do update set state = excluded.state
       where a.state = 'shown' and excluded.state = 'taught';
  end loop;
end $$;
