-- Assigns the public keys p_owned to an API key and removes its other public keys; null changes nothing.
-- A public key belongs to one API key of all sites, so the function has the owner's rights.
-- Returns a JSON array of the 0-based positions in p_owned || p_foreign that another API key has; null for none.
create or replace function thumbprints_write(p_site uuid, p_client text, p_owned text[], p_foreign text[]) returns json
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  delete from api_key_thumbprint t
   where t.site_id = p_site and t.client_id = p_client and not t.thumbprint = any (p_owned);
  -- Waits for a simultaneous writer of the same public key, then finds that key.
  insert into api_key_thumbprint (thumbprint, site_id, client_id)
    select distinct x, p_site, p_client from unnest(p_owned) x order by x
    on conflict do nothing;
  return thumbprints_foreign(p_client, p_owned || p_foreign);
end $$;
