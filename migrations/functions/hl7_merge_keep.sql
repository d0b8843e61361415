-- Keeps the rows that an undo needs beside the history of versions. Its caller, hl7_store, writes the effects of the
-- message after it.
--   - p_merges, p_met, p_precedences: as of hl7_store.
--
-- patient_merge.kept has these members, with the state before the merge except for `after`:
--   - resources: [[type, id, version]] of the merged patient, the kept ones of p_met, and both patients.
--   - met: [[gone, kept]].
--   - keys: [[type, key, id]] of hl7_identity, of the merged patient and of the kept ones of p_met.
--   - results: rows of hl7_result of the merged patient and of kept results.
--   - numbers: rows of patient_identity of both patients.
--   - traits: [trait] of the survivor.
--   - precedences, after: {id: fields} of hl7_precedence, of both patients, and of p_met.
create or replace function hl7_merge_keep(p_site uuid, p_message uuid, p_merges json, p_met json, p_precedences json)
returns void
language plpgsql as $$
#variable_conflict use_column
declare
  m record;
  met uuid[] := array(
    select unnest(array[x.gone, x.kept]) from json_to_recordset(p_met) as x(gone uuid, kept uuid));
  stated uuid[];
begin
  for m in select x."from" as merged, x."to" as survivor from json_to_recordset(p_merges) as x("from" uuid, "to" uuid) loop
    stated := met || m.merged || m.survivor;
    insert into patient_merge (site_id, message_id, merged, survivor, kept)
      select p_site, p_message, m.merged, m.survivor, json_build_object(
        'resources', (
          select coalesce(json_agg(json_build_array(r.type, r.id, r.version)), '[]')
            from (
              select x.type, x.id, x.version from resource x where x.site_id = p_site and x.patient_id = m.merged
              union all
              select x.type, x.id, x.version from resource x
               where x.site_id = p_site and x.patient_id = m.survivor and x.id = any (met)
              union all
              select x.type, x.id, x.version from resource x
               where x.site_id = p_site and x.type = 'Patient' and x.id in (m.merged, m.survivor)) r),
        'met', (
          select coalesce(json_agg(json_build_array(x.gone, x.kept)), '[]')
            from json_to_recordset(p_met) as x(gone uuid, kept uuid) where x.gone is not null),
        'keys', (
          select coalesce(json_agg(json_build_array(i.type, i.key, i.id)), '[]')
            from (
              select x.type, x.id, x.patient_id from resource x where x.site_id = p_site and x.patient_id = m.merged
              union all
              select x.type, x.id, x.patient_id from resource x
               where x.site_id = p_site and x.patient_id = m.survivor and x.id = any (met)) r
           cross join lateral (
             select x.* from hl7_identity x
              where x.id = r.id and x.type = r.type and x.site_id = p_site and x.key like '%@' || r.patient_id::text offset 0) i),
        'results', (
          select coalesce(json_agg(h), '[]') from hl7_result h
           where h.site_id = p_site and h.patient_id in (m.merged, m.survivor)
             and (h.patient_id = m.merged or h.id = any (met))),
        'numbers', (
          select coalesce(json_agg(i), '[]') from patient_identity i
           where i.site_id = p_site and i.id in (m.merged, m.survivor)),
        'traits', (
          select coalesce(json_agg(t.trait), '[]') from patient_trait t where t.site_id = p_site and t.id = m.survivor),
        'precedences', (
          select coalesce(json_object_agg(o.id, o.fields), '{}') from hl7_precedence o
           where o.site_id = p_site and o.id = any (stated)),
        'after', (
          select coalesce(json_object_agg(x.id, x.fields), '{}')
            from json_to_recordset(p_precedences) as x(id uuid, fields text) where x.id = any (stated)));
  end loop;
end $$;
