-- A stored resource that a message finds, as hl7_matches returns it; none where it is not stored.
--   contributions: its row of hl7_precedence as JSON, { fields, stamps }
--   state: equal for the same row as the same transaction wrote it (xmin), with the same precedences, which a message can
--     change without a new version. So the states of all rows show whether an earlier snapshot still holds, however old it is.
-- In SQL, and without settings, so that PostgreSQL puts it into the statement that uses it. The limits make look-ups by key of
-- both tables, one at a time, whatever the planner expects.
create or replace function hl7_match(p_site uuid, p_role text, p_key text, p_type text, p_id uuid, p_asked integer[])
returns table (role text, key text, type text, id uuid, version integer, last_updated timestamptz, meta text, body text,
  contributions text, asked integer[], state text)
language sql stable as $$
  select p_role, p_key, r.type, r.id, r.version, r.last_updated, r.meta, r.body, f.contributions, p_asked,
         md5(concat_ws('|', p_role, p_key, r.type, r.id, r.version, r.written, f.contributions))
    from (
      select x.*, x.xmin as written from resource x where x.site_id = p_site and x.type = p_type and x.id = p_id limit 1) r
    left join lateral (
      select '{"fields":' || x.fields || ',"stamps":' || x.stamps || '}' as contributions
        from hl7_precedence x where x.site_id = p_site and x.type = p_type and x.id = p_id limit 1) f on true
$$;
