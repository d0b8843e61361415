-- Delays the caller's transaction until no other transaction has locked one of these keys: identifiers that two writers
-- could both find missing. The order is fixed, so that two callers with several keys cannot deadlock. A caller that
-- waits too long gets an error and may retry: the caller sets lock_timeout (edge/store/time-limits.ts).
create or replace function lock_keys(p_site uuid, p_keys text[])
returns void language plpgsql as $$
declare
  k bigint;
  ignored text;
begin
  for k in select distinct hashtextextended(p_site || '|' || u.key, 0) as hash from unnest(p_keys) u(key) order by hash loop
    ignored := pg_advisory_xact_lock(k);
  end loop;
end $$;
