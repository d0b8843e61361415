-- Returns the positions of public keys that another API key has, as a JSON array of the 0-based positions in
-- p_thumbprints. It covers all sites, so it has the owner's rights. Null if there are no such keys. Writes nothing.
create or replace function thumbprints_foreign(p_client text, p_thumbprints text[]) returns json
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select json_agg(x.n - 1 order by x.n)
    from unnest(p_thumbprints) with ordinality x(thumbprint, n)
    join api_key_thumbprint t on t.thumbprint = x.thumbprint
   where t.client_id <> p_client
$$;
