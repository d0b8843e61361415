-- Hands a job back after a step that succeeded. It is the first statement of the step's batch: it holds the job's row
-- until the batch ends, and raises GW410 when the lease is not the job's any more (it ran out and another took the job,
-- or the job was stopped), which undoes all that the step wrote.
-- p_pause_seconds: when the next step is due; null: there is none, the job is done.
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
