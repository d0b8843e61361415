-- Moves everything that belongs to one patient to another (ADT A18, A34, A39, A40): references in the stored text,
-- patient_id, dates, studies, HL7 keys. If both patient records have the same resource, the survivor's stays. The edge
-- selects these pairs (edge/hl7/ingest/merge-records.ts), and references to p_gone[i] become references to p_kept[i].
-- Each moved resource gets a new version. The merge is not in the edge, which would have to read and write back every
-- resource of a patient. The only FHIR knowledge here is the form of a reference (R4 references, literal).
create or replace function hl7_merge(p_site uuid, p_message uuid, p_from uuid, p_to uuid, p_gone uuid[], p_kept uuid[])
returns void
language plpgsql as $$
declare
  at timestamptz := write_time();
  s record;
  target uuid;
  last_place integer;
begin
  -- The survivor gets the traits of the merged patient.
  insert into patient_trait (site_id, id, trait)
    select p_site, p_to, t.trait from patient_trait t where t.site_id = p_site and t.id = p_from
    on conflict do nothing;
  perform from resource r where r.site_id = p_site and r.patient_id = p_from order by r.type, r.id for update;
  if not found then return; end if;

  -- For the audit: it is of both patients.
  perform audit_note(array(
    select row('update', r.type, r.id, p.id)::audit_item
      from resource r cross join (values (p_from), (p_to)) p (id)
     where r.site_id = p_site and r.patient_id = p_from
    union all select row('update', 'Patient', p.id, null)::audit_item from (values (p_from), (p_to)) p (id)));
  insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
    select r.site_id, r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, r.written_by
      from resource r where r.site_id = p_site and r.patient_id = p_from;
  insert into hl7_message_resource (site_id, message_id, type, id, version, is_written, elements)
    select r.site_id, p_message, r.type, r.id, r.version + 1, true,
           case r.type when 'AllergyIntolerance' then 'patient' else 'subject' end || ' MRG-1'
      from resource r where r.site_id = p_site and r.patient_id = p_from;
  update hl7_identity i
     set key = left(i.key, -36) || p_to::text, id = coalesce(p_kept[array_position(p_gone, i.id)], i.id)
    from resource r
   where r.site_id = p_site and r.patient_id = p_from
     and i.site_id = p_site and i.type = r.type and i.id = r.id and i.key like '%@' || p_from::text
     and not exists (select from hl7_identity o
                      where o.site_id = p_site and o.type = i.type and o.key = left(i.key, -36) || p_to::text);
  -- A later patient with the old number finds no resource of this patient by it.
  delete from hl7_identity i
   using resource r
   where r.site_id = p_site and r.patient_id = p_from
     and i.site_id = r.site_id and i.type = r.type and i.id = r.id and i.key like '%@' || p_from::text;
  -- If two are equal in all parts of the key, place keeps them apart.
  select coalesce(max(o.place), 0) into last_place from hl7_result o where o.site_id = p_site and o.patient_id = p_to;
  update hl7_result h
     set patient_id = p_to,
         place = h.place + last_place
   where h.site_id = p_site and h.patient_id = p_from;
  update resource r
     set version = r.version + 1,
         last_updated = greatest(at, r.last_updated),
         body = hl7_references_set(regexp_replace(r.body, '"Patient/' || p_from::text || '(/_history/[^"]*)?"',
           '"Patient/' || p_to::text || '"', 'g'), p_gone, p_kept),
         patient_id = p_to,
         written_by = greatest(pg_current_xact_id()::text::bigint, r.written_by)
   where r.site_id = p_site and r.patient_id = p_from;
  update resource_date d set patient_id = p_to where d.site_id = p_site and d.patient_id = p_from;

  for s in select x.study_id, x.accession from study x where x.site_id = p_site and x.patient_id = p_from for update loop
    select x.study_id into target from study x
     where x.site_id = p_site and x.patient_id = p_to and x.accession = s.accession;
    if found then
      update report x set study_id = target where x.site_id = p_site and x.study_id = s.study_id;
      delete from study x where x.site_id = p_site and x.study_id = s.study_id;
    else
      update study x set patient_id = p_to where x.site_id = p_site and x.study_id = s.study_id;
    end if;
  end loop;
end $$;
