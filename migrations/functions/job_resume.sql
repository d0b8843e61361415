-- Lets a job that was stopped or has failed go on where it was, at once. False when it is neither; raises
-- unique_violation (23505) when another open job has its kind, site and exclusive_key.
create or replace function job_resume(p_id uuid) returns boolean language plpgsql as $$
begin
  update job j
     set state = 'open', attempts = 0, run_after = clock_timestamp(), updated_at = clock_timestamp(), ended_at = null
   where j.job_id = p_id and j.state in ('stopped', 'failed');
  return found;
end $$;
