-- Requests background work. Returns the new job's id, or the id of the open job with the same kind, site and
-- p_exclusive_key (null: there may be several). That job then continues unchanged. Each call deletes a few jobs that
-- ended more than 90 days ago.
create or replace function job_add(p_id uuid, p_kind text, p_site uuid, p_exclusive_key text, p_cursor json,
  p_total bigint, p_asked_by text) returns uuid language plpgsql as $$
declare
  v_id uuid;
begin
  delete from job j where j.job_id in (
    select o.job_id from job o where o.state <> 'open' and o.ended_at < now() - interval '90 days'
     order by o.ended_at limit 100 for update skip locked);
  insert into job as j (job_id, kind, site_id, exclusive_key, cursor, progress_total, asked_by)
    values (p_id, p_kind, p_site, p_exclusive_key, p_cursor, p_total, p_asked_by)
    on conflict (kind, site_id, exclusive_key) where state = 'open' and exclusive_key is not null
    do update set updated_at = j.updated_at
    returning j.job_id into v_id;
  return v_id;
end $$;
