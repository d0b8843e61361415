-- Finds the site whose changed patient records are compared next (edge/hl7/alike/job.ts), with its position. Returns no row if
-- nothing was changed. until_at is null if no moment is set. Otherwise the moment is settled: every transaction that wrote
-- before it has ended. It covers all sites, so it has the owner's rights. It returns ids and times only.
create or replace function alike_due() returns table (site_id uuid, after_at timestamptz, after_id uuid, until_at timestamptz)
language sql
security definer
set search_path = public, pg_temp
as $$
  select s.site_id, p.after_at, p.after_id, c.until_at
    from site s
    left join alike_check c on c.site_id = s.site_id
   cross join lateral (select coalesce(c.after_at, '-infinity') as after_at,
                              coalesce(c.after_id, '00000000-0000-0000-0000-000000000000') as after_id) p
   where (c.until_at is null or c.until_by < pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
     and exists (select from resource r
                  where r.site_id = s.site_id and r.type = 'Patient' and (r.last_updated, r.id) > (p.after_at, p.after_id))
   order by c.checked_at nulls first, s.site_id
   limit 1
$$;
