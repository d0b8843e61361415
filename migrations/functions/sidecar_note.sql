-- Written at most once in half a minute, however often a sidecar calls.
create or replace function sidecar_note(p_issuer text) returns void language sql as $$
  insert into sidecar_seen as s (issuer) values (p_issuer)
    on conflict (issuer) do update set last_seen = now() where s.last_seen < now() - interval '30 seconds'
$$;
