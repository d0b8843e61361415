-- Finds an API key by its Client ID, for a caller that claims to be this client. The site is not known before, so the
-- search has the owner's rights. Returns only the columns that the token endpoint needs; at most one row.
create or replace function client_find(p_client text)
returns table (site_id uuid, client_id text, status text, jwks_uri text, jwks text, token_ttl_seconds integer,
  allowed_scopes text[], allowed_audiences text[], protocols text[])
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select k.site_id, k.client_id, k.status, k.jwks_uri, k.jwks, k.token_ttl_seconds, k.allowed_scopes, k.allowed_audiences,
         k.protocols
    from api_key k where k.client_id = p_client
$$;
