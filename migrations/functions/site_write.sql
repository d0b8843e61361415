-- Writes a site's settings and their history in one statement. If two administrators edit one version, the second edit
-- is rejected.
--   - p_expected: null to create, else the versions the editor has seen; '{}' for any.
--   - p_record: to create, every setting by its column's name; to change, the settings that change. The function writes
--     exactly these columns. To add a setting, add its column to the table.
--   - outcome: created, updated, unchanged, missing (no such site) or version (and nothing was written).
create or replace function site_write(p_site uuid, p_expected integer[], p_by text, p_record json)
returns table (outcome text, version integer)
language plpgsql as $$
#variable_conflict use_column
declare
  cur site;
  new_site site;
  -- The names in p_record, quoted.
  columns text;
begin
  select string_agg(quote_ident(c), ', ') into columns from json_object_keys(p_record) c;
  if p_expected is null then
    perform site_address_lock(true);
    execute format('insert into site (site_id, %1$s)
      select $1, %1$s from json_populate_record(null::site, $2) returning *', columns)
      into new_site using p_site, p_record;
    -- The first site gets every source address. It keeps them when other sites are added, until an operator removes them.
    insert into site_address (site_id, range, assigned_by)
      select p_site, '*', p_by where not exists (select from site s where s.site_id <> p_site);
  else
    select s.* into cur from site s where s.site_id = p_site for no key update;
    if not found then
      return query select 'missing', 0;
      return;
    end if;
    if cardinality(p_expected) > 0 and not cur.version = any (p_expected) then
      return query select 'version', cur.version;
      return;
    end if;
    if json_populate_record(cur, p_record) is not distinct from cur then
      return query select 'unchanged', cur.version;
      return;
    end if;
    execute format('update site set (%1$s, version, updated_at) =
        (select %1$s, $3, now() from json_populate_record(null::site, $2))
      where site_id = $1 returning *', columns)
      into new_site using p_site, p_record, cur.version + 1;
  end if;
  insert into site_change (site_id, version, by, before, after)
    values (p_site, new_site.version, p_by, case when p_expected is null then null else to_json(cur) end,
      to_json(new_site));
  perform audit_note(array[row('settings-changed', 'Site', p_site, null)::audit_item]);
  return query select case when p_expected is null then 'created' else 'updated' end, new_site.version;
end $$;
