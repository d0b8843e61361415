-- Makes the rows of a site's file live in a code table, as a new version. A draft that differs from the newest version stays.
--   - p_change: { id, name, isNew, content, rows }. content is a new id for the rows.
--     rows: as p_rows of code_table_import. Null switches the table off, or makes a new one without a version.
--   - p_expected: the version that was live when the file was planned; null for none.
--   - p_max_tables: of the site. p_max_systems: of a version.
--
-- Returns 'done', or 'version' if the table is not as the plan had it. Only 'done' changes something.
create or replace function code_table_apply(p_site uuid, p_change json, p_expected integer, p_max_tables integer,
  p_max_systems integer, p_by text, p_comment text) returns text
language plpgsql as $$
declare
  v_table uuid := p_change ->> 'id';
  v_content uuid := p_change ->> 'content';
  is_new boolean := p_change ->> 'isNew';
  is_off boolean := json_typeof(p_change -> 'rows') = 'null';
  t code_table;
  keeps_draft boolean;
  v_outcome text;
begin
  if is_new then
    insert into code_table (site_id, table_id, name, created_by)
      select p_site, v_table, p_change ->> 'name', p_by
       where p_max_tables > (select count(*) from code_table x where x.site_id = p_site)
      on conflict do nothing;
    if not found then return 'version'; end if;
  end if;
  select x.* into t from code_table x where x.site_id = p_site and x.table_id = v_table for no key update;
  if not found or t.live is distinct from p_expected then return 'version'; end if;
  if is_new and is_off then
    perform audit_note(array[row('code-table-changed', 'CodeTable', v_table, null)::audit_item]);
    return 'done';
  end if;
  if is_off then return code_table_release(p_site, v_table, null, t.edits, p_by, p_comment, p_max_systems); end if;
  keeps_draft := exists (
      select from code_table_row r
       where r.site_id = p_site and r.table_id = v_table and r.content = t.content and (t.draft = 1 or t.draft in (r.since, r.until)))
    or t.content <> (
      select v.content from code_table_version v where v.site_id = p_site and v.table_id = v_table and v.version = t.draft - 1);
  insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
      display, equivalence, since)
    select p_site, v_table, v_content, x.value ->> 1, x.value ->> 2, x.value ->> 3, x.value ->> 4, x.value ->> 5, x.value ->> 6,
           x.value ->> 7, x.value ->> 8, 0
      from json_array_elements(p_change -> 'rows') x;
  update code_table x set content = v_content where x.site_id = p_site and x.table_id = v_table;
  v_outcome := code_table_release(p_site, v_table, t.draft, t.edits, p_by, p_comment, p_max_systems);
  if keeps_draft then
    update code_table x set content = t.content where x.site_id = p_site and x.table_id = v_table;
  end if;
  return v_outcome;
end $$;
