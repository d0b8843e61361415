-- Asks for the retention of every site once a day: where it has no open job, and none was begun within 20 hours. One that
-- has failed is so begun anew the next day. Sites are found with the owner's rights, since it is about all of them.
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
