-- Notes a sidecar that was rejected (migrations/0008_operation.sql), at most once in half a minute, even if it calls
-- more often.
create or replace function sidecar_refusal_note(p_reason text, p_name text, p_kid text, p_clock_seconds integer,
  p_source_address text) returns void language sql as $$
  insert into sidecar_refused as r (reason, name, kid, clock_seconds, source_address)
    values (p_reason, p_name, p_kid, p_clock_seconds, p_source_address)
    on conflict (reason, name) do update
      set kid = excluded.kid, clock_seconds = excluded.clock_seconds, source_address = excluded.source_address, at = now()
     where r.at < now() - interval '30 seconds'
$$;
