-- Writes the search rows of stored resources again; content and versions do not change.
--   p_rows: { type, id, version, patient: uuid | null, identifiers, tokens, dates, search, parts, report, known }, as in
--     resource_write. A resource with another version is skipped, because its writer has written its rows. A patient that the
--     site does not have counts as null.
-- Settings: migrations/README.md, "Plans".
create or replace function resource_reindex(p_site uuid, p_rows json) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  r record;
  v_patient uuid;
begin
  -- In the order of resource_write, so that the two cannot deadlock.
  for r in
    select x.*
      from json_to_recordset(p_rows) x(type text, id uuid, version integer, patient uuid, identifiers json, tokens json,
             dates json, search json, parts json, report json, known json)
     order by x.type <> 'Patient', x.id
  loop
    perform from resource c
      where c.site_id = p_site and c.type = r.type and c.id = r.id and c.version = r.version for no key update;
    continue when not found;
    select p.id into v_patient from resource p where p.site_id = p_site and p.type = 'Patient' and p.id = r.patient;
    update resource c set patient_id = v_patient
     where c.site_id = p_site and c.type = r.type and c.id = r.id and c.patient_id is distinct from v_patient;
    perform search_index_write(p_site, r.type, r.id, false, v_patient, r.identifiers, r.tokens, r.dates, r.search, r.parts,
      r.report);
    if r.known is not null then
      perform patient_rows_write(p_site, r.id, false, 'client', r.known);
    end if;
  end loop;
end $$;
