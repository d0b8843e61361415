-- Numbers the settled versions of a site that have no number yet, the oldest first: about p_limit, but all of a transaction.
--
-- Transactions commit in another order than they get their ids. A version is settled if no transaction with its id or a lower
-- one is under way: then none can appear before it. The snapshot of the second statement is newer than `settled`, so it shows
-- all of them. One caller numbers at a time; for another one, is_waiting is true.
--
-- has_more: settled versions remain. is_waiting: versions remain that are not settled. Settings: migrations/README.md, "Plans".
create or replace function change_number(p_site uuid, p_limit integer)
returns table (numbered integer, last_number bigint, has_more boolean, is_waiting boolean)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  p change_position;
  settled bigint;
  last_written bigint;
begin
  select c.* into p from change_position c where c.site_id = p_site for no key update skip locked;
  if not found then
    -- The other caller may have looked before the latest commit.
    return query select 0, c.last_number, false, true from change_position c where c.site_id = p_site;
    return;
  end if;
  settled := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  -- The position is of another server (change_recover).
  if p.below > pg_snapshot_xmax(pg_current_snapshot())::text::bigint then
    return;
  end if;
  with found as (
    select x.* from (
      (select r.type, r.id, r.version, r.last_updated, r.written_by from resource r
        where r.site_id = p_site and r.written_by >= p.below and r.written_by < settled
        order by r.written_by fetch first (p_limit) rows with ties)
      union all
      (select h.type, h.id, h.version, h.last_updated, h.written_by from resource_history h
        where h.site_id = p_site and h.written_by >= p.below and h.written_by < settled
        order by h.written_by fetch first (p_limit) rows with ties)
      union all
      (select e.type, e.id, null, e.erased_at, e.written_by from resource_erased e
        where e.site_id = p_site and e.written_by >= p.below and e.written_by < settled
        order by e.written_by fetch first (p_limit) rows with ties)) x
    order by x.written_by fetch first (p_limit) rows with ties
  ), added as (
    insert into change (site_id, number, type, id, version, reached)
      select p_site, p.last_number + row_number() over w, f.type, f.id, f.version, greatest(p.reached, max(f.last_updated) over w)
        from found f
      window w as (order by f.written_by, f.type <> 'Patient', f.type, f.id, f.version rows unbounded preceding)
      returning number, reached
  )
  select count(*), max(a.number), max(a.reached), (select max(f.written_by) from found f)
    into numbered, last_number, p.reached, last_written
    from added a;
  last_number := coalesce(last_number, p.last_number);
  has_more := numbered >= p_limit;
  p.below := case when has_more then last_written + 1 else greatest(settled, p.below) end;
  update change_position c set below = p.below, last_number = change_number.last_number, reached = coalesce(p.reached, c.reached)
   where c.site_id = p_site;
  is_waiting := exists (select from resource r where r.site_id = p_site and r.written_by >= p.below);
  return next;
end $$;
