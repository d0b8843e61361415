-- Adds a retention job for every site once a day: if it has no open job, and none was begun within 20 hours. A failed
-- job is therefore replaced the next day. It covers all sites, so it has the owner's rights.
create or replace function retention_ask() returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  perform job_add(gen_random_uuid(), 'retention', s.site_id, 'site', '{}', null, 'gateway')
     from site s
    where not s.legal_hold
      and not exists (select from job j
                       where j.site_id = s.site_id and j.kind = 'retention'
                         and (j.state = 'open' or j.created_at > clock_timestamp() - interval '20 hours'));
end $$;
