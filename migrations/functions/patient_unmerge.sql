-- Undoes a merge as edge/hl7/patients/unmerge.ts decided. It writes the resources, and returns keys, result keys,
-- identifiers and traits to their patients.
-- The undo also dismisses the pair as possible duplicates.
--   - p_state: md5 of patient_merge_read; another one raises GW412.
--   - p_undo { author, reason, writes, back, gone, kept, precedences, `attention` }.
--   - writes: as resource_write.
--   - back: [{ type, id }], resources that return to the merged patient.
--   - gone: ids of those among them that the merge entered in error.
--   - kept: ids of the survivor's resources that are again as before the merge.
--   - precedences: [{ type, id, fields }].
--   - `attention`: as attention_add.
-- Notes the action patient-unmerged for the audit.
create or replace function patient_unmerge(p_site uuid, p_merge uuid, p_state text, p_undo json) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  m patient_merge;
  u record;
  b record;
  ignored text;
  place_before integer;
  written json;
begin
  select x.* into m from patient_merge x where x.site_id = p_site and x.merge_id = p_merge for update;
  ignored := lock_patients(p_site, '{}', array[m.merged, m.survivor]);
  if m.undone_at is not null or md5(patient_merge_read(p_site, p_merge, null)) is distinct from p_state then
    raise exception 'the records have changed since the preview' using errcode = 'GW412', detail = '[0]';
  end if;
  select x.* into u from json_to_record(p_undo) as x(author text, reason text, writes json, back json, gone json, kept json,
    precedences json, attention json);

  -- The traits that only the merged patient had.
  delete from patient_trait t
   using patient_trait o
   where t.site_id = p_site and t.id = m.survivor
     and o.site_id = p_site and o.id = m.merged and o.trait = t.trait
     and t.trait not in (select json_array_elements_text(m.kept -> 'traits'));
  -- The identifiers that an absorption took from the merged patient. Those that lead to another patient since stay there.
  insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
    select p_site, k.value, k.authority, k.id, k.number_type, k.led, k.is_assumed, k.is_taught
      from json_populate_recordset(null::patient_identity, m.kept -> 'numbers') k
     where k.id = m.merged
       and exists (select from patient_identity o
                    where o.site_id = p_site and o.id = m.survivor and o.authority = k.authority and o.value = k.value)
    on conflict do nothing;
  written := (
    select coalesce(json_agg(json_build_array(r.value ->> 'type', w.id, w.version)), '[]')
      from resource_write(p_site, u.writes) w
      join json_array_elements(u.writes) with ordinality r(value, n) on r.n = w.ordinal + 1
     where w.outcome = 'updated');
  -- The survivor keeps only its own.
  delete from patient_identity i
   where i.site_id = p_site and i.id = m.survivor
     and exists (select from json_populate_recordset(null::patient_identity, m.kept -> 'numbers') k
                  where k.id = m.merged and k.authority = i.authority and k.value = i.value)
     and not exists (select from json_populate_recordset(null::patient_identity, m.kept -> 'numbers') k
                      where k.id = m.survivor and k.authority = i.authority and k.value = i.value);

  insert into hl7_precedence (site_id, type, id, fields)
    select p_site, x.type, x.id, x.fields from json_to_recordset(u.precedences) as x(type text, id uuid, fields text)
    on conflict (site_id, type, id) do update set fields = excluded.fields;

  -- Keys that only the merge gave to results of the survivor.
  delete from hl7_identity i
   using json_array_elements(m.kept -> 'met') p, json_array_elements(m.kept -> 'keys') k
   where i.site_id = p_site and i.id = (p.value ->> 1)::uuid and i.key like '%@' || m.survivor::text
     and k.value ->> 2 = p.value ->> 0 and k.value ->> 0 = i.type and k.value ->> 1 = left(i.key, -36) || m.merged::text
     and not exists (select from json_array_elements(m.kept -> 'keys') o
                      where o.value ->> 0 = i.type and o.value ->> 1 = i.key and o.value ->> 2 = i.id::text);
  update hl7_identity i set key = left(i.key, -36) || m.merged::text
    from json_to_recordset(u.back) as x(type text, id uuid)
   where i.site_id = p_site and i.type = x.type and i.id = x.id and i.key like '%@' || m.survivor::text
     and not exists (select from hl7_identity o
                      where o.site_id = p_site and o.type = i.type and o.key = left(i.key, -36) || m.merged::text);
  insert into hl7_identity (site_id, type, key, id)
    select p_site, k.value ->> 0, k.value ->> 1, (k.value ->> 2)::uuid
      from json_array_elements(m.kept -> 'keys') k
      join json_to_recordset(u.back) as x(type text, id uuid) on x.id = (k.value ->> 2)::uuid and x.type = k.value ->> 0
     where k.value ->> 1 like '%@' || m.merged::text
    on conflict do nothing;

  -- Results: first those of before the merge, at their places.
  delete from hl7_result h
   using json_populate_recordset(null::hl7_result, m.kept -> 'results') k
   where h.site_id = p_site and h.type = k.type and h.id = k.id
     and h.id::text in (select json_array_elements_text(u.kept));
  insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
    select p_site, k.type, k.id, k.patient_id, k.what, k.filler, k.placer, k.at, k.place, k.numbers
      from json_populate_recordset(null::hl7_result, m.kept -> 'results') k
     where k.id::text in (select json_array_elements_text(u.kept) union all select json_array_elements_text(u.gone))
    on conflict do nothing;
  select coalesce(max(h.place), 0) into place_before from hl7_result h where h.site_id = p_site and h.patient_id = m.merged;
  update hl7_result h set patient_id = m.merged, place = h.place + place_before
    from json_to_recordset(u.back) as x(type text, id uuid)
   where h.site_id = p_site and h.type = x.type and h.id = x.id and h.patient_id = m.survivor;

  perform attention_add(p_site, null, u.attention);
  -- The administrator has decided that they are two persons.
  perform attention_add(p_site, null, json_build_array(json_build_object('kind', 'possible-duplicate',
    'patients', json_build_array(m.merged, m.survivor), 'detail', json_build_object('reason', 'unmerged'))));
  with dismissed as (
    update issue i set dismissed_at = now(), dismissed_by = u.author, dismissed_reason = u.reason
     where i.site_id = p_site and i.kind = 'possible-duplicate' and i.patient_a = least(m.merged, m.survivor)
       and i.patient_b = greatest(m.merged, m.survivor) and i.dismissed_at is null
    returning i.issue_id)
  insert into issue_decision (site_id, issue_id, state, by, reason)
    select p_site, d.issue_id, 'dismissed', u.author, u.reason from dismissed d;
  update patient_merge x set undone_at = now(), undone_by = u.author, reason = u.reason, undone = written
   where x.site_id = p_site and x.merge_id = p_merge;
  ignored := audit_note(array[row('patient-unmerged', 'Patient', m.merged, null)::audit_item,
    row('patient-unmerged', 'Patient', m.survivor, null)::audit_item]);
end $$;
