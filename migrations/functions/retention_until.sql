-- What a site keeps of each kind is from then on; no row for a site that is under legal hold. p_now is the clock of the
-- asker: of the two clocks the one that is behind counts, so that one that is ahead forgets nothing.
create or replace function retention_until(p_site uuid, p_now timestamptz)
returns table (messages timestamptz, attempts timestamptz, usage timestamptz, audit timestamptz)
language sql as $$
  select t.now - make_interval(days => s.keep_messages_days), t.now - make_interval(days => s.keep_attempts_days),
         t.now - make_interval(days => s.keep_usage_days), t.now - make_interval(days => s.keep_audit_days)
    from site s cross join (select least(p_now, clock_timestamp()) as now) t
   where s.site_id = p_site and not s.legal_hold
$$;
