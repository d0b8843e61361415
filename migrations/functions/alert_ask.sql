-- Adds the jobs that check alerts and post their notices, where they are not open. Neither ends by itself.
create or replace function alert_ask() returns void language plpgsql as $$
begin
  perform job_add(gen_random_uuid(), k, null, 'gateway', '{}', null, 'gateway')
     from unnest(array['alerts', 'alert-notices']) k
    where not exists (select from job j where j.site_id is null and j.kind = k and j.state = 'open');
end $$;
