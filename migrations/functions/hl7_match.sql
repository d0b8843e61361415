-- Returns a stored resource that a message finds, as hl7_matches does; no row if it is not stored.
--   - contributions: its row of hl7_precedence as JSON, { fields, stamps }.
--   - state: equal while the same transaction (xmin) wrote the row and the precedences are equal, which a message can
--     change without a new version. The states of all rows show whether an earlier snapshot of any age is still
--     current.
--
-- The function is in SQL and has no settings, so that PostgreSQL inlines it into the statement that uses it. The limits
-- enforce look-ups by key in both tables, one at a time, independent of the planner's estimates.
create or replace function hl7_match(p_site uuid, p_role text, p_key text, p_type text, p_id uuid, p_asked integer[])
returns table (role text, key text, type text, id uuid, version integer, last_updated timestamptz, meta text, body text,
  contributions text, asked integer[], state text)
language sql stable as $$
  select p_role, r.key, r.type, r.id, r.version, r.last_updated, r.meta, r.body, f.contributions, p_asked,
         md5(concat_ws('|', p_role, r.key, r.type, r.id, r.version, r.written, f.contributions))
    from (
      select x.*, x.xmin as written, p_key as key from resource x where x.site_id = p_site and x.type = p_type and x.id = p_id limit 1) r
    left join lateral (
      select '{"fields":' || x.fields || ',"stamps":' || x.stamps || '}' as contributions
        from hl7_precedence x where x.site_id = p_site and x.type = p_type and x.id = p_id limit 1) f on true
$$;
