-- Stores the identifiers and traits of patients (migrations/0005_identity.sql).
--   - p_rows: as in resource_write, but mode is 'create' for a new patient, and 'unchanged' for a patient whose record stays. A
--     message may add identifiers to such a patient. Rows with 'keep', and other types than Patient, are skipped.
--   - writer: 'message', else a FHIR client.
--   - known { numbers: [[authority, value, number_type, led, is_assumed]], values: [every identifier value of the content],
--     traits: [text] }.
--
-- A message gives its identifiers; of the others, those with a value in the content stay. A FHIR client gives the
-- identifiers of the content. For a value that stays, the information from messages stays too. Traits are only added.
-- The caller has locked the resources' rows. Settings are the caller's.
create or replace function patient_rows_write(p_site uuid, p_rows resource_row[])
returns void language plpgsql as $$
declare
  r record;
  has_patients boolean := false;
begin
  if cardinality(p_rows) = 1 and p_rows[1].known is null then return; end if;
  for r in
    select x.id, x.mode, x.known, (x.writer = 'message') is true as is_message
      from unnest(p_rows) x
     where x.known is not null and x.mode is distinct from 'keep' and (x.mode is distinct from 'unchanged' or x.writer = 'message')
  loop
    has_patients := true;
    continue when r.mode = 'create';
    delete from patient_identity i
     where i.site_id = p_site and i.id = r.id
       and (i.value not in (
              select search_key(v) from json_array_elements_text(r.known -> 'values') v)
         or not r.is_message and not i.is_taught and (i.authority, i.value, i.number_type) not in (
              select search_key(e ->> 0), search_key(e ->> 1), search_key(e ->> 2) from json_array_elements(r.known -> 'numbers') e));
  end loop;
  if not has_patients then return; end if;
  insert into patient_identity as i (site_id, authority, value, number_type, id, led, is_assumed, is_taught)
    select p_site, n.authority, n.value, n.number_type, n.id, bool_or(n.led), bool_and(n.is_assumed), n.is_message
      from (select x.id, x.mode, (x.writer = 'message') is true as is_message, search_key(e ->> 0) as authority,
                   search_key(e ->> 1) as value, search_key(e ->> 2) as number_type, (e ->> 3)::boolean as led,
                   (e ->> 4)::boolean as is_assumed
              from unnest(p_rows) x cross join json_array_elements(x.known -> 'numbers') e
             where x.mode is distinct from 'keep' and (x.mode is distinct from 'unchanged' or x.writer = 'message')) n
     -- An identifier that a message wrote and a client sends back stays as the message wrote it.
     where n.is_message or n.mode = 'create' or not exists (
       select from patient_identity t where t.site_id = p_site and t.id = n.id and t.value = n.value and t.is_taught
          and (t.authority = n.authority or n.is_assumed))
     group by n.id, n.is_message, n.authority, n.value, n.number_type
    on conflict (site_id, value, authority, id, number_type) do update
      set led = i.led or excluded.led, is_assumed = i.is_assumed and excluded.is_assumed,
          is_taught = i.is_taught or excluded.is_taught
    where (i.led, i.is_assumed, i.is_taught) is distinct from
      (i.led or excluded.led, i.is_assumed and excluded.is_assumed, i.is_taught or excluded.is_taught);
  insert into patient_trait (site_id, id, trait)
    select p_site, x.id, t
      from unnest(p_rows) x cross join json_array_elements_text(x.known -> 'traits') t
     where x.mode is distinct from 'keep' and (x.mode is distinct from 'unchanged' or x.writer = 'message')
    on conflict do nothing;
end $$;
