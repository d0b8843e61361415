-- Deletes rows of a site's audit from before p_before, the oldest first, p_limit at most, and returns how many. It runs
-- as the owner of the table, since the application can only add to it. It keeps every row younger than
-- audit_minimum_age, even if p_before is later.
create or replace function audit_forget(p_site uuid, p_before timestamptz, p_limit integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  forgotten integer;
begin
  delete from audit a
   where a.site_id = p_site
     and (a.at, a.audit_id) in (
       select o.at, o.audit_id from audit o
        where o.site_id = p_site
          and o.at < least(p_before, now() - make_interval(days => (select m.days from audit_minimum_age m)))
        order by o.at, o.audit_id limit p_limit);
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
