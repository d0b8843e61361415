-- Releases a job after a step that failed, with its cursor unchanged. Returns false when the lease is no longer the
-- job's: then nothing happens.
--   - p_retry_seconds: the seconds until the retry; null: no retry, the job has failed.
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
