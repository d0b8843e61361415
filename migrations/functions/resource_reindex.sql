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
  writes resource_row[] := array(select x from json_populate_recordset(null::resource_row, p_rows) x);
begin
  -- In the order of resource_write, so that the two cannot deadlock.
  for r in
    select x.ordinality as n, x.*
      from rows from (unnest(writes), json_to_recordset(p_rows) as (version integer)) with ordinality x
     order by x.type <> 'Patient', x.id
  loop
    perform from resource c
      where c.site_id = p_site and c.type = r.type and c.id = r.id and c.version = r.version for no key update;
    if not found then
      writes[r.n].mode := 'keep';
      continue;
    end if;
    if r.patient is not null then
      writes[r.n].patient := (select p.id from resource p where p.site_id = p_site and p.type = 'Patient' and p.id = r.patient);
    end if;
    update resource c set patient_id = writes[r.n].patient
     where c.site_id = p_site and c.type = r.type and c.id = r.id and c.patient_id is distinct from writes[r.n].patient;
  end loop;
  perform search_index_write(p_site, writes);
  perform patient_rows_write(p_site, writes);
end $$;
