-- Returns the Allowed IPs of the keys of all sites that accept MLLP messages. For `*` it returns the ranges of the
-- key's site. A sidecar receives only these ranges, not their owners.
create or replace function mllp_ranges() returns table (range text)
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select distinct r from api_key k
   cross join unnest(k.allowed_ips) a
   cross join lateral (select a as r where a <> '*'
                       union all select o.range from site_address o where a = '*' and o.site_id = k.site_id) own
   where k.status = 'active' and 'hl7-mllp' = any (k.protocols) order by 1
$$;
