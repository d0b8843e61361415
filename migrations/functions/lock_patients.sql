-- Delays the caller's transaction until no other transaction has locked one of p_keys, or an identifier of one of these
-- patients. It works as lock_keys, for a FHIR client's write of patients whose identifiers change (edge/store/lock.ts).
create or replace function lock_patients(p_site uuid, p_keys text[], p_ids uuid[])
returns void language plpgsql
set enable_seqscan = off
as $$
begin
  perform lock_keys(p_site, p_keys || array(
    select distinct 'Patient|' || i.value from patient_identity i where i.id = any (p_ids) and i.site_id = p_site));
end $$;
