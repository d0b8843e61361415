-- A read of a resource as a whole request: who asks is let in (request_begin), the row is read, what was shown is noted in the
-- audit. One statement, whose plans are kept. p_version, p_since: it is shown where it is of this version and was not changed
-- after this instant; null: always. last_updated: a FHIR instant. No row where the site has no such resource. began_at: of limit_time.
-- Settings: migrations/README.md, "Plans".
create or replace function fhir_read(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_address text, p_request text, p_type text, p_id uuid, p_version integer, p_since timestamptz)
returns table (type text, id uuid, version integer, last_updated text, meta text, body text, began_at bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  changed timestamptz;
  patient uuid;
  ignored text;
begin
  began_at := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti);
  select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id
    into type, id, version, changed, meta, body, patient
    from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id;
  if not found then
    return;
  end if;
  if version = coalesce(p_version, version) and date_trunc('second', changed) <= coalesce(p_since, 'infinity') then
    ignored := audit_write(p_site, 'key', null, p_client, p_address, p_request, null, null,
      concat_ws(' ', 'read', type, id, patient));
  end if;
  last_updated := to_char(changed at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  ignored := limit_time(p_deadline, p_lock_ms, p_work_ms);
  return next;
end $$;
