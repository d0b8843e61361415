-- Decides whether a namespace stands for a URI in the messages of a key: p_state is 'confirmed' or 'rejected'. A
-- confirmed URI replaces any other URI of the namespace, which is then only shown. A rejected URI is not used, and not
-- taught again. The function lists patients whose identifiers match by the URI (namespaces_compare; p_never as there). It
-- returns one row, or no row if the site has no such alias.
create or replace function authority_alias_decide(p_site uuid, p_client text, p_namespace text, p_uri text, p_state text,
  p_by text, p_never text[])
returns table (state text, decided_at timestamptz, decided_by text)
language plpgsql as $$
#variable_conflict use_column
begin
  -- Waits for the messages that were decided with the earlier URIs. Later messages find other settings (hl7_store).
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|authorities', 0));
  perform from authority_alias a
    where a.site_id = p_site and a.client_id = p_client and a.namespace = p_namespace and a.uri = p_uri;
  if not found then return; end if;
  if p_state = 'confirmed' then
    update authority_alias a set state = 'shown'
     where a.site_id = p_site and a.client_id = p_client and a.namespace = p_namespace and a.uri <> p_uri
       and a.state in ('taught', 'confirmed');
  end if;
  update authority_alias a set state = p_state, decided_at = clock_timestamp(), decided_by = p_by
   where a.site_id = p_site and a.client_id = p_client and a.namespace = p_namespace and a.uri = p_uri
     and a.state <> p_state;
  if found then
    insert into authority_alias_decision (site_id, client_id, namespace, uri, state, by)
      values (p_site, p_client, p_namespace, p_uri, p_state, p_by);
    if p_state = 'confirmed' then
      perform namespaces_compare(p_site, jsonb_build_object(p_namespace, p_uri), jsonb_build_object(p_namespace, p_uri), p_never,
        'alias-confirmed');
    end if;
  end if;
  return query select a.state, a.decided_at, a.decided_by from authority_alias a
    where a.site_id = p_site and a.client_id = p_client and a.namespace = p_namespace and a.uri = p_uri;
end $$;
