-- Stops a job: no step of it writes any more once this has returned, also none that is under way. Its cursor stays, so
-- that job_resume can go on. False when it had ended already or does not exist.
create or replace function job_stop(p_id uuid) returns boolean language plpgsql as $$
begin
  update job j
     set state = 'stopped', lease = null, lease_until = null, updated_at = clock_timestamp(), ended_at = clock_timestamp()
   where j.job_id = p_id and j.state = 'open';
  return found;
end $$;
