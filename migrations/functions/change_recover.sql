-- Repairs the change feeds of a database that was restored from a dump into a server whose transaction ids are lower. `npm run
-- migrate` calls it, with the owner's rights. Each version that has no number yet gets one, in the order of its time. Then the
-- stored ids count as older than all ids of this server. Returns the number of repaired sites.
create or replace function change_recover() returns integer language plpgsql as $$
declare
  s record;
  p change_position;
  next_id bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  repaired integer := 0;
begin
  for s in
    select x.site_id from site x
     where greatest(
             (select max(r.written_by) from resource r where r.site_id = x.site_id),
             (select max(h.written_by) from resource_history h where h.site_id = x.site_id),
             (select max(e.written_by) from resource_erased e where e.site_id = x.site_id),
             (select c.below from change_position c where c.site_id = x.site_id)) > next_id
  loop
    repaired := repaired + 1;
    select c.* into p from change_position c where c.site_id = s.site_id for update;
    if found then
      insert into change (site_id, number, type, id, version, reached)
        select p.site_id, p.last_number + row_number() over w, v.type, v.id, v.version,
               greatest(p.reached, max(v.last_updated) over w)
          from (select r.type, r.id, r.version, r.last_updated from resource r where r.site_id = p.site_id
                union all
                select h.type, h.id, h.version, h.last_updated from resource_history h where h.site_id = p.site_id
                union all
                select e.type, e.id, null, e.erased_at from resource_erased e where e.site_id = p.site_id) v
         where v.last_updated >= p.started_at
           and not exists (select from change c
                            where c.site_id = p.site_id and c.type = v.type and c.id = v.id
                              and c.version is not distinct from v.version)
        window w as (order by v.last_updated, v.type <> 'Patient', v.type, v.id, v.version rows unbounded preceding);
      update change_position c
         set below = pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
             last_number = coalesce((select max(x.number) from change x where x.site_id = p.site_id), 0),
             reached = coalesce((select max(x.reached) from change x where x.site_id = p.site_id), c.reached)
       where c.site_id = p.site_id;
    end if;
    update resource r set written_by = 0 where r.site_id = s.site_id and r.written_by > 0;
    update resource_history h set written_by = 0 where h.site_id = s.site_id and h.written_by > 0;
    update resource_erased e set written_by = 0 where e.site_id = s.site_id and e.written_by > 0;
  end loop;
  return repaired;
end $$;
