-- Hands a job back after a step that failed, its cursor as it was. p_retry_seconds: when the step is tried again; null:
-- never, the job has failed. False when the lease is not the job's any more: then nothing happens.
create or replace function job_fail(p_id uuid, p_lease uuid, p_error text, p_retry_seconds integer) returns boolean
language plpgsql as $$
begin
  update job j
     set last_error = p_error, lease = null, lease_until = null, updated_at = clock_timestamp(),
         state = case when p_retry_seconds is null then 'failed' else 'open' end,
         ended_at = case when p_retry_seconds is null then clock_timestamp() end,
         run_after = clock_timestamp() + make_interval(secs => coalesce(p_retry_seconds, 0))
   where j.job_id = p_id and j.lease = p_lease;
  return found;
end $$;
