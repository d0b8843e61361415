-- The Allowed IPs of all keys that take MLLP messages, whatever their site: what a sidecar is told, and nothing of whose.
create or replace function mllp_ranges() returns table (range text)
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select distinct a from api_key k cross join unnest(k.allowed_ips) a
   where k.status = 'active' and 'hl7-mllp' = any (k.protocols) order by 1
$$;
