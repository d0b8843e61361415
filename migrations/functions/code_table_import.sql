-- Adds a part of an import to a code table. With the last part, the rows of all parts become the draft.
--   - p_content: of this import, in every part. The first part deletes what another import has left.
--   - p_rows: [[line, system, code, application, facility, target_system, target_code, display, equivalence]], each once.
--   - p_max_rows: of all parts. p_max_of_code: of one code.
--
-- Returns one row:
--   - outcome: 'staged', 'done' (the draft has changed), 'missing' (no such table) or 'parts' (an earlier part is missing).
--     'ended' (p_content is of a complete import) changes nothing. 'rows' or 'of-code' (too many rows) or 'lines' end the import.
--   - lines: for 'lines', of rows that an earlier part has already, at most 100.
create or replace function code_table_import(p_site uuid, p_table uuid, p_content uuid, p_part integer, p_parts integer,
  p_rows jsonb, p_max_rows integer, p_max_of_code integer)
returns table (outcome text, lines integer[])
language plpgsql
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  t code_table;
  known integer[];
begin
  select x.* into t from code_table x where x.site_id = p_site and x.table_id = p_table for no key update;
  if not found then
    return query select 'missing', null::integer[];
    return;
  end if;
  -- Without this, a part sent again after the import ended would delete the rows of a version.
  if p_content = t.content or exists (
      select from code_table_version v where v.site_id = p_site and v.table_id = p_table and v.content = p_content) then
    return query select 'ended', null::integer[];
    return;
  end if;
  if p_part = 1 then
    delete from code_table_row r
     where r.site_id = p_site and r.table_id = p_table and r.content in (
       select i.content from code_table_import i where i.site_id = p_site and i.table_id = p_table);
    delete from code_table_import i where i.site_id = p_site and i.table_id = p_table;
  end if;
  known := array(
    select i.part from code_table_import i
     where i.site_id = p_site and i.table_id = p_table and i.content = p_content and i.part > 0 order by i.part);
  if cardinality(known) < p_part - 1 then
    return query select 'parts', null::integer[];
    return;
  end if;
  -- A part whose answer was lost is sent again.
  if not p_part = any (known) then
    with given as materialized (
      select (x.value ->> 0)::integer as line, x.value ->> 1 as system, x.value ->> 2 as code, x.value ->> 3 as application,
             x.value ->> 4 as facility, x.value ->> 5 as target_system, x.value ->> 6 as target_code, x.value ->> 7 as display,
             x.value ->> 8 as equivalence
        from jsonb_array_elements(p_rows) x
    ), added as (
      insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
          display, equivalence, since)
        select p_site, p_table, p_content, g.system, g.code, g.application, g.facility, g.target_system, g.target_code,
               g.display, g.equivalence, 0
          from given g
        on conflict do nothing
        returning system, code, application, facility, target_system, target_code
    )
    select array(
      select g.line from given g
       where not exists (
         select from added a
          where a.system = g.system and a.code = g.code and a.application = g.application and a.facility = g.facility
            and a.target_system = g.target_system and a.target_code = g.target_code)
       order by g.line limit 100) into lines;
    insert into code_table_import (site_id, table_id, content, part, parts, rows)
      values (p_site, p_table, p_content, p_part, p_parts, jsonb_array_length(p_rows));
  end if;
  outcome := case
    when lines <> '{}' then 'lines'
    when p_max_rows < (
      select sum(i.rows) from code_table_import i
       where i.site_id = p_site and i.table_id = p_table and i.content = p_content) then 'rows'
    else 'staged' end;
  if outcome = 'staged' and p_part = p_parts then
    select case when max(c.count) > p_max_of_code then 'of-code' else 'done' end into outcome
      from (
        select count(*) as count from code_table_row r
         where r.site_id = p_site and r.table_id = p_table and r.content = p_content group by r.system, r.code) c;
    if outcome = 'done' then
      update code_table x set content = p_content, edits = x.edits + 1 where x.site_id = p_site and x.table_id = p_table;
      delete from code_table_import i where i.site_id = p_site and i.table_id = p_table;
      if not exists (
          select from code_table_version v where v.site_id = p_site and v.table_id = p_table and v.content = t.content) then
        delete from code_table_row r where r.site_id = p_site and r.table_id = p_table and r.content = t.content;
      end if;
      perform audit_note(array[row('code-table-changed', 'CodeTable', p_table, null)::audit_item]);
    end if;
  end if;
  if outcome not in ('staged', 'done') then
    delete from code_table_import i where i.site_id = p_site and i.table_id = p_table;
    delete from code_table_row r where r.site_id = p_site and r.table_id = p_table and r.content = p_content;
  end if;
  return next;
end $$;
