-- Releases a job after a step that succeeded. It is the first statement of the step's batch, and locks the job's row
-- until the batch ends. Raises GW410 when the lease is no longer the job's: it expired and another runner claimed the
-- job, or the job was stopped. This rolls back all writes of the step.
--   - p_pause_seconds: the seconds until the next step; null: no step follows, the job is done.
create or replace function job_advance(p_id uuid, p_lease uuid, p_cursor json, p_done bigint, p_total bigint,
  p_pause_seconds integer) returns void language plpgsql as $$
begin
  update job j
     set cursor = p_cursor, progress_done = p_done, progress_total = p_total, attempts = 0, last_error = null,
         lease = null, lease_until = null, updated_at = clock_timestamp(),
         state = case when p_pause_seconds is null then 'done' else 'open' end,
         ended_at = case when p_pause_seconds is null then clock_timestamp() end,
         run_after = clock_timestamp() + make_interval(secs => coalesce(p_pause_seconds, 0))
   where j.job_id = p_id and j.lease = p_lease;
  if not found then
    raise exception 'the lease of the job was lost' using errcode = 'GW410';
  end if;
end $$;
