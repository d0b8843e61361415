-- Records a call of a sidecar. It writes at most once in half a minute, unless the sidecar's report has changed.
--   - p_clock_seconds: how far its clock is behind the gateway's.
--   - p_version, p_connections: the values that the sidecar reports, or null.
create or replace function sidecar_note(p_issuer text, p_clock_seconds integer, p_version text, p_connections integer)
returns void language sql as $$
  insert into sidecar_seen as s (issuer, clock_seconds, version, connections, reported_at)
    values (p_issuer, p_clock_seconds, p_version, p_connections, case when p_version is not null then now() end)
    on conflict (issuer) do update
      set last_seen = now(), clock_seconds = excluded.clock_seconds, version = coalesce(excluded.version, s.version),
          connections = coalesce(excluded.connections, s.connections), reported_at = coalesce(excluded.reported_at, s.reported_at)
     where s.last_seen < now() - interval '30 seconds'
        or excluded.version is not null and (s.version, s.connections) is distinct from (excluded.version, excluded.connections)
$$;
