-- Writes of a FHIR client without conditions as a whole request: who asks is let in (request_begin), p_keys and the numbers
-- of p_patients are held (lock_keys, lock_patients), p_rows are written (resource_write, whose rows and SQLSTATEs come back),
-- and noted in the audit. last_updated: a FHIR instant. One statement, whose plans are kept. began_at: of limit_time.
create or replace function fhir_write(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[], p_address text, p_request text,
  p_keys text[], p_patients uuid[], p_rows json)
returns table (ordinal integer, outcome text, id uuid, version integer, last_updated text, began_at bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  began bigint := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol,
    p_scopes);
  ignored text;
begin
  if p_patients <> '{}' then
    ignored := lock_patients(p_site, p_keys, p_patients);
  elsif p_keys <> '{}' then
    ignored := lock_keys(p_site, p_keys);
  end if;
  for ordinal, outcome, id, version, last_updated in
    select w.ordinal, w.outcome, w.id, w.version,
           to_char(w.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      from resource_write(p_site, p_rows) w
  loop
    began_at := began;
    return next;
  end loop;
  ignored := audit_write(p_site, 'key', null, p_client, p_address, p_request, null, null,
    nullif(current_setting('gateway.audit', true), ''));
  ignored := assert_in_time(p_deadline);
end $$;
