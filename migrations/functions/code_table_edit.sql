-- Changes rows of a code table's draft. It replaces the rows of the same codes and senders, or removes them.
--   - p_rows: as code_table_import.
--   - p_removes: the targets of p_rows have no meaning.
--   - p_max_rows: of the draft. p_max_of_code: of one code.
--
-- Returns 'done', 'missing' (no such table), 'rows' or 'of-code' (too many). Only 'done' changes something.
create or replace function code_table_edit(p_site uuid, p_table uuid, p_rows jsonb, p_removes boolean, p_max_rows integer,
  p_max_of_code integer) returns text
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  t code_table;
  g record;
  outcome text := 'done';
begin
  select x.* into t from code_table x where x.site_id = p_site and x.table_id = p_table for no key update;
  if not found then return 'missing'; end if;
  for g in select distinct x.value ->> 1 as system, x.value ->> 2 as code, x.value ->> 3 as application, x.value ->> 4 as facility
    from jsonb_array_elements(p_rows) x
  loop
    delete from code_table_row r
     where r.site_id = p_site and r.table_id = p_table and r.content = t.content and r.system = g.system and r.code = g.code
       and r.application = g.application and r.facility = g.facility and r.since = t.draft;
    update code_table_row r set until = t.draft
     where r.site_id = p_site and r.table_id = p_table and r.content = t.content and r.system = g.system and r.code = g.code
       and r.application = g.application and r.facility = g.facility and r.until is null;
  end loop;
  if not p_removes then
    insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
        display, equivalence, since)
      select p_site, p_table, t.content, x.value ->> 1, x.value ->> 2, x.value ->> 3, x.value ->> 4, x.value ->> 5,
             x.value ->> 6, x.value ->> 7, x.value ->> 8, t.draft
        from jsonb_array_elements(p_rows) x;
    select case
             when exists (
               select from (select distinct x.value ->> 1 as system, x.value ->> 2 as code from jsonb_array_elements(p_rows) x offset 0) k
                where p_max_of_code < (
                  select count(*) from code_table_row r
                   where r.site_id = p_site and r.table_id = p_table and r.content = t.content and r.system = k.system
                     and r.code = k.code and r.until is null)) then 'of-code'
             when p_max_rows < (
               select count(*) from code_table_row r
                where r.site_id = p_site and r.table_id = p_table and r.content = t.content and r.until is null) then 'rows'
             else 'done' end
      into outcome;
    if outcome <> 'done' then raise exception 'undone'; end if;
  end if;
  update code_table x set edits = x.edits + 1 where x.site_id = p_site and x.table_id = p_table;
  perform audit_note(array[row('code-table-changed', 'CodeTable', p_table, null)::audit_item]);
  return outcome;
exception when raise_exception then
  return outcome;
end $$;
