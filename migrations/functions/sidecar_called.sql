-- Written at most once in half a minute, however often a sidecar calls. p_clock_seconds: how far its clock is behind ours.
create or replace function sidecar_called(p_issuer text, p_clock_seconds integer) returns void language sql as $$
  insert into sidecar_seen as s (issuer, clock_seconds) values (p_issuer, p_clock_seconds)
    on conflict (issuer) do update set last_seen = now(), clock_seconds = excluded.clock_seconds
     where s.last_seen < now() - interval '30 seconds'
$$;
