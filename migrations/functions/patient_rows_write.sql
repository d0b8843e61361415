-- Stores the identifiers of a patient and the traits of the person from the patient record.
--   - p_writer: 'message' or 'client', a FHIR client.
--   - p_known { numbers: [[authority, value, type, led, assumed]], values: [every identifier value of the content],
--     traits: [text] }.
--
-- A message gives its identifiers; of the others, those with a value in the content stay. A FHIR client gives the
-- identifiers of the content. For a value that stays, the information from messages stays too. Traits are only added.
-- The caller has locked the resource's row. Settings are the caller's.
create or replace function patient_rows_write(p_site uuid, p_id uuid, p_is_new boolean, p_writer text, p_known json)
returns void language plpgsql as $$
declare
  is_message boolean := p_writer = 'message';
begin
  if not p_is_new then
    delete from patient_identity i
     where i.site_id = p_site and i.id = p_id
       and (i.value not in (
              select search_key(v) from json_array_elements_text(p_known -> 'values') v)
         or not is_message and not i.is_taught and (i.authority, i.value, i.number_type) not in (
              select search_key(e ->> 0), search_key(e ->> 1), search_key(e ->> 2) from json_array_elements(p_known -> 'numbers') e));
  end if;
  insert into patient_identity as i (site_id, authority, value, number_type, id, led, is_assumed, is_taught)
    select p_site, n.authority, n.value, n.number_type, p_id, bool_or(n.led), bool_and(n.is_assumed), is_message
      from (select search_key(e ->> 0) as authority, search_key(e ->> 1) as value, search_key(e ->> 2) as number_type,
                   (e ->> 3)::boolean as led, (e ->> 4)::boolean as is_assumed
              from json_array_elements(p_known -> 'numbers') e) n
     -- A client that sends back what a message wrote says no more of it than the message did.
     where is_message or p_is_new or not exists (
       select from patient_identity t where t.site_id = p_site and t.id = p_id and t.value = n.value and t.is_taught
          and (t.authority = n.authority or n.is_assumed))
     group by n.authority, n.value, n.number_type
    on conflict (site_id, value, authority, id, number_type) do update
      set led = i.led or excluded.led, is_assumed = i.is_assumed and excluded.is_assumed,
          is_taught = i.is_taught or excluded.is_taught
    where (i.led, i.is_assumed, i.is_taught) is distinct from
      (i.led or excluded.led, i.is_assumed and excluded.is_assumed, i.is_taught or excluded.is_taught);
  insert into patient_trait (site_id, id, trait)
    select p_site, p_id, t from json_array_elements_text(p_known -> 'traits') t
    on conflict do nothing;
end $$;
