-- Begins the change feed of each site that has an API key with subscription hosts. Adds the job that serves the feeds, which
-- does not end. It covers all sites, so it has the owner's rights.
--
-- A version with a lower written_by than `below` was written by a transaction that had ended, so before the clock is read.
create or replace function change_ask() returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  settled bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  at timestamptz := date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond';
begin
  insert into change_position (site_id, started_at, below, reached)
    select distinct k.site_id, at, settled, at from api_key k
     where k.subscription_hosts <> '{}' and not exists (select from change_position p where p.site_id = k.site_id)
    on conflict do nothing;
  if not exists (select from job j where j.site_id is null and j.kind = 'changes' and j.state = 'open') then
    perform job_add(gen_random_uuid(), 'changes', null, 'gateway', '{}', null, 'gateway');
  end if;
end $$;
