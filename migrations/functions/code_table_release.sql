-- Makes a version of a code table live, or switches the table off. It applies to the next message.
--   - p_version: the draft, which becomes a version and is followed by another draft; an earlier version; null to switch the
--     table off.
--   - p_edits: as code_table.edits when the person saw the table.
--   - p_max_systems: of a version.
--
-- Returns 'done', 'missing' (no such table), 'version' (no such version), 'edits' (changed meanwhile), 'unchanged' (this version
-- is live already) or 'systems' (too many). Only 'done' changes something.
create or replace function code_table_release(p_site uuid, p_table uuid, p_version integer, p_edits integer, p_by text,
  p_comment text, p_max_systems integer) returns text
language plpgsql as $$
declare
  t code_table;
  rows_of uuid;
  names jsonb;
  others jsonb;
begin
  -- Two tables of a site are released one after the other: both change its row.
  perform from site s where s.site_id = p_site for no key update;
  select x.* into t from code_table x where x.site_id = p_site and x.table_id = p_table for no key update;
  if not found then return 'missing'; end if;
  if t.edits <> p_edits then return 'edits'; end if;
  if p_version not between 1 and t.draft then return 'version'; end if;
  if p_version is not distinct from t.live then return 'unchanged'; end if;
  others := coalesce((
    select jsonb_agg(x.value order by x.n)
      from site s cross join lateral jsonb_array_elements(s.code_tables) with ordinality x(value, n)
     where s.site_id = p_site and x.value ->> 'id' <> p_table::text), '[]');
  if p_version is not null then
    rows_of := case when p_version = t.draft then t.content else (
      select v.content from code_table_version v
       where v.site_id = p_site and v.table_id = p_table and v.version = p_version) end;
    select coalesce(jsonb_agg(distinct r.system), '[]') into names
      from code_table_row r
     where r.site_id = p_site and r.table_id = p_table and r.content = rows_of and r.since <= p_version
       and coalesce(r.until > p_version, true);
    if jsonb_array_length(names) > p_max_systems then return 'systems'; end if;
    if p_version = t.draft then
      insert into code_table_version (site_id, table_id, version, content) values (p_site, p_table, t.draft, t.content);
    end if;
    others := others || jsonb_build_object('id', p_table, 'version', p_version, 'content', rows_of, 'systems', names);
  end if;
  update site s set code_tables = others where s.site_id = p_site;
  update code_table x set live = p_version, draft = greatest(x.draft, p_version + 1), edits = x.edits + 1
   where x.site_id = p_site and x.table_id = p_table;
  insert into code_table_release (site_id, table_id, number, version, by, comment)
    select p_site, p_table, coalesce(max(r.number), 0) + 1, p_version, p_by, p_comment
      from code_table_release r where r.site_id = p_site and r.table_id = p_table;
  perform audit_note(array[row('code-table-live', 'CodeTable', p_table, null)::audit_item]);
  return 'done';
end $$;
