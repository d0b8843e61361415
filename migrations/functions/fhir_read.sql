-- read and vread (FHIR R4 http, 3.1.0.2, 3.1.0.3). Returns one row, or no row where the site has no such resource or version.
-- - p_version: the version of a vread; null: the current one.
-- - p_if_versions, p_unmodified_since: the audit records the resource only where it has one of these versions and did not change after
--   this instant. Null: no condition.
-- - p_answer_bytes, p_row_bytes: as in fhir_find.
-- A single request passes p_deadline to p_searched. Then the function checks the caller (request_begin) and writes the audit
-- row. A statement of a bundle leaves them out, because the first and last statements of the bundle do both.
-- In a bundle it notes the resource for the audit. Content that does not fit the answer is null (answer_note).
-- last_updated: a FHIR instant. began_at: of limit_time. Settings: migrations/README.md, "Plans".
create or replace function fhir_read(p_site uuid, p_type text, p_id uuid, p_version integer, p_if_versions integer[],
  p_unmodified_since timestamptz, p_answer_bytes bigint, p_row_bytes integer,
  p_deadline bigint default null, p_lock_ms integer default null, p_work_ms integer default null, p_client text default null,
  p_jti text default null, p_audience text default null, p_protocol text default null, p_scopes text default null,
  p_address text default null, p_request text default null, p_searched text[] default null)
returns table (type text, id uuid, version integer, last_updated text, meta text, body text, began_at bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  changed timestamptz;
  patient uuid;
  is_shown boolean;
  ignored text;
begin
  if p_deadline is not null then
    began_at := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  end if;
  select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id
    into type, id, version, changed, meta, body, patient
    from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id;
  -- Second, because a version that is replaced in between is then in the history.
  if version <> p_version then
    select h.type, h.id, h.version, h.last_updated, h.meta, h.body, h.patient_id
      into type, id, version, changed, meta, body, patient
      from resource_history h where h.site_id = p_site and h.type = p_type and h.id = p_id and h.version = p_version;
  end if;
  if version is null then
    return;
  end if;
  body := document_fill(body);
  last_updated := to_char(changed at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  is_shown := coalesce(version = any (p_if_versions), true)
    and date_trunc('second', changed) <= coalesce(p_unmodified_since, 'infinity');
  if p_deadline is not null then
    if is_shown then
      ignored := audit_shown(p_site, p_client, p_address, p_request, 'read', type, array[id], array[patient], null);
    end if;
    ignored := assert_in_time(p_deadline);
  elsif answer_note(array[case when is_shown then row('read', type, id, patient)::audit_item end],
      array[octet_length(body) + octet_length(meta) + p_row_bytes], p_answer_bytes) = 0 then
    meta := null;
    body := null;
  end if;
  return next;
end $$;
