-- Claims the job that has been due longest, of the kinds that the caller can run, for one step. No other runner claims
-- it until it is released (job_advance, job_fail) or p_seconds have passed. One queue has the jobs of all sites, so the
-- function has the owner's rights; the step itself works in the job's site. Returns one row, or no row when nothing is
-- due. The column attempts counts this one. It is higher than 1 when the step failed or its runner was lost before.
create or replace function job_claim(p_kinds text[], p_lease uuid, p_seconds integer)
returns table (job_id uuid, kind text, site_id uuid, cursor json, progress_done bigint, progress_total bigint,
  attempts integer)
language sql
security definer
set search_path = public, pg_temp
as $$
  update job j
     set lease = p_lease, lease_until = clock_timestamp() + make_interval(secs => p_seconds),
         attempts = j.attempts + 1, updated_at = clock_timestamp()
   where j.job_id = (
     select d.job_id from job d
      where d.state = 'open' and d.run_after <= clock_timestamp() and d.kind = any (p_kinds)
        and (d.lease_until is null or d.lease_until <= clock_timestamp())
      order by d.run_after, d.job_id limit 1 for update skip locked)
  returning j.job_id, j.kind, j.site_id, j.cursor, j.progress_done, j.progress_total, j.attempts
$$;
