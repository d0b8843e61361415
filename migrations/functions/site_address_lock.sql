-- A change of address assignments excludes other changes, and waits for transactions that save keys by them
-- (p_is_change false).
create or replace function site_address_lock(p_is_change boolean) returns void language sql as $$
  select case when p_is_change then pg_advisory_xact_lock(hashtextextended('site_address', 0))
              else pg_advisory_xact_lock_shared(hashtextextended('site_address', 0)) end
$$;
