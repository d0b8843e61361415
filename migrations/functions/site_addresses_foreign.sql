-- Returns the positions of a key's Allowed IPs for MLLP that are not assigned to the site (site_address), for the key's
-- sender (null: any). The result is a JSON array of the 0-based positions; null for no position. Writes nothing.
create or replace function site_addresses_foreign(p_site uuid, p_allowed_ips text[], p_application text, p_facility text,
  p_tls_subject text) returns json
language sql stable as $$
  select json_agg(x.n - 1 order by x.n)
    from unnest(p_allowed_ips) with ordinality x(range, n)
   cross join lateral (
     select coalesce(array_agg(a.network), '{}') as networks from site_address a
      where a.site_id = p_site
        and a.application in ('', coalesce(p_application, a.application))
        and a.facility in ('', coalesce(p_facility, a.facility))
        and a.tls_subject in ('', coalesce(p_tls_subject, a.tls_subject))) own
   where case when mllp_network(x.range) = '::/0' then own.networks = '{}'
              else not coalesce(mllp_covered(mllp_network(x.range), own.networks), false) end
$$;
