-- Deletes rows of deleted code tables, and of imports without a further part for a day: of one content, and p_limit rows at most.
-- Returns true if others may be left. code_table_import rejects a later part of such an import.
create or replace function code_tables_forget(p_site uuid, p_limit integer) returns boolean
language plpgsql as $$
declare
  v_table uuid;
  v_content uuid;
  deleted integer;
begin
  select i.table_id, i.content into v_table, v_content
    from code_table_import i where i.site_id = p_site
   group by i.table_id, i.content having min(i.part) = 0 or max(i.at) < clock_timestamp() - interval '1 day' limit 1;
  if not found then return false; end if;
  -- A part that is stored meanwhile keeps its import.
  perform from code_table t where t.site_id = p_site and t.table_id = v_table for no key update;
  delete from code_table_import i
   where i.site_id = p_site and i.table_id = v_table and i.content in (
     select n.content from code_table_import n where n.site_id = p_site and n.table_id = v_table and n.content = v_content
      group by n.content having min(n.part) = 0 or max(n.at) < clock_timestamp() - interval '1 day');
  if not found then return true; end if;
  delete from code_table_row r where r.ctid = any (array(
    select o.ctid from code_table_row o
     where o.site_id = p_site and o.table_id = v_table and o.content = v_content limit p_limit));
  get diagnostics deleted = row_count;
  if deleted = p_limit then
    insert into code_table_import (site_id, table_id, content, part, parts, rows) values (p_site, v_table, v_content, 0, 0, 0);
  end if;
  return true;
end $$;
