-- The patient that a Patient says it was replaced by (Patient.link of type replaced-by, the first), so that those who were
-- merged into a patient are found.
create function patient_replaced_by(p_body text) returns uuid language sql immutable as $$
  select substring(e -> 'other' ->> 'reference'
           from '^Patient/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/_history/[^/]+)?$')::uuid
    from json_array_elements(('{' || p_body || '}')::json -> 'link') e
   where e ->> 'type' = 'replaced-by'
   limit 1
$$;

alter table resource add column replaced_by uuid generated always as (
  case when type = 'Patient' and body like '%"replaced-by"%' then patient_replaced_by(body) end) stored;
create index resource_replaced_by on resource (site_id, replaced_by) where replaced_by is not null;
