-- Returns the rows of live code tables for codes of a message, as a JSON list; null for none. A row is [position in p_codes from 0,
-- application, facility, target_system, target_code, display, equivalence].
--   - p_tables: as site.code_tables. The rows are those of these versions, also if another version is live by now.
--   - p_systems[i], p_codes[i]: a code as code_table_row has it.
--
-- Settings: migrations/README.md, "Plans".
create or replace function hl7_codes(p_site uuid, p_tables jsonb, p_systems text[], p_codes text[]) returns text
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  return (
    select json_agg(json_build_array(c.n - 1, r.application, r.facility, r.target_system, r.target_code, r.display, r.equivalence)
             order by c.n, t.n, r.row_key)::text
      from (
        select (x.value ->> 'id')::uuid as id, (x.value ->> 'version')::integer as version, (x.value ->> 'content')::uuid as content,
               x.value -> 'systems' as systems, x.n
          from jsonb_array_elements(p_tables) with ordinality x(value, n) offset 0) t
      join unnest(p_systems, p_codes) with ordinality c (system, code, n) on t.systems ? c.system
     cross join lateral (
       select x.* from code_table_row x
        where x.site_id = p_site and x.table_id = t.id and x.content = t.content and x.system = c.system and x.code = c.code
          and x.since <= t.version and coalesce(x.until > t.version, true)
        offset 0) r);
end $$;
