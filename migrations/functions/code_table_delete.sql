-- Deletes a code table with its versions and releases. retention_step deletes the rows later: they may be millions.
--   - p_edits: as code_table.edits when the person saw the table.
--
-- Returns 'done', 'missing' (no such table), 'edits' (changed meanwhile) or 'live' (messages are read by it). Only 'done' changes
-- something. No message is read by a table that is not live, so the live tables of the site stay as they are.
create or replace function code_table_delete(p_site uuid, p_table uuid, p_edits integer) returns text
language plpgsql as $$
declare
  t code_table;
begin
  select x.* into t from code_table x where x.site_id = p_site and x.table_id = p_table for update;
  if not found then return 'missing'; end if;
  if t.edits <> p_edits then return 'edits'; end if;
  if t.live is not null then return 'live'; end if;
  with parts as (
    delete from code_table_import i where i.site_id = p_site and i.table_id = p_table and i.part > 0 returning i.content
  ), versions as (
    delete from code_table_version v where v.site_id = p_site and v.table_id = p_table returning v.content)
  insert into code_table_import (site_id, table_id, content, part, parts, rows)
    select p_site, p_table, c.content, 0, 0, 0
      from (select t.content union select p.content from parts p union select v.content from versions v) c
    on conflict do nothing;
  delete from code_table_release r where r.site_id = p_site and r.table_id = p_table;
  delete from code_table x where x.site_id = p_site and x.table_id = p_table;
  perform audit_note(array[row('code-table-deleted', 'CodeTable', p_table, null)::audit_item]);
  return 'done';
end $$;
