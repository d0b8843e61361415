-- A read of a resource as a whole request: who asks is let in (request_begin), the row is read, what was shown is noted in the
-- audit. One statement, whose plans are kept. p_version, p_since: it is shown where it is of this version and was not changed
-- after this instant; null: always. last_updated: a FHIR instant. No row where the site has no such resource. began_at: of limit_time.
-- The audit's row is what audit_write would make of it; said as a line and read again it would cost an eighth of such a request.
-- Settings: migrations/README.md, "Plans".
create or replace function fhir_read(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_site uuid, p_client text,
  p_jti text, p_audience text, p_protocol text, p_scopes text[], p_address text, p_request text,
  p_type text, p_id uuid, p_version integer, p_since timestamptz)
returns table (type text, id uuid, version integer, last_updated text, meta text, body text, began_at bigint)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  about uuid;
  is_shown boolean;
  ignored text;
begin
  began_at := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol,
    p_scopes);
  select r.type, r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), r.meta, r.body,
         case r.type when 'Patient' then r.id else r.patient_id end, r.version = coalesce(p_version, r.version)
           and date_trunc('second', r.last_updated) <= coalesce(p_since, 'infinity')
    into type, id, version, last_updated, meta, body, about, is_shown
    from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id;
  if not found then
    return;
  end if;
  if is_shown then
    insert into audit (site_id, actor_kind, client_id, address, request_id, action, parts, types, ids, patients, parameters)
      values (p_site, 'key', p_client, p_address, p_request, 'read', '{}', array[type], array[id],
        array_remove(array[about], null), '{}');
  end if;
  ignored := assert_in_time(p_deadline);
  return next;
end $$;
