-- Returns the time from which on a site keeps each kind of data; no row for a site that is under legal hold. The
-- argument p_now is the caller's clock. The earlier of the two clocks counts, so that a fast clock deletes nothing.
create or replace function retention_until(p_site uuid, p_now timestamptz)
returns table (messages timestamptz, attempts timestamptz, usage timestamptz, audit timestamptz)
language sql as $$
  select t.now - make_interval(days => s.keep_messages_days), t.now - make_interval(days => s.keep_attempts_days),
         t.now - make_interval(days => s.keep_usage_days), t.now - make_interval(days => s.keep_audit_days)
    from site s cross join (select least(p_now, clock_timestamp()) as now) t
   where s.site_id = p_site and not s.legal_hold
$$;
