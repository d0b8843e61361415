-- Returns the author of a version of a resource: { clientId, elements, message: { id, type, controlId, application, facility,
-- receivedAt, forgottenAt } | null, person }. Everything is on record elsewhere: the effects of messages, the undo of merges, and the audit of FHIR clients. A member is
-- null where the record does not have it, for example after the retention of the audit.
-- - elements: 'name,birthDate', the members that the version changed, perhaps each with HL7 fields: 'name PID-5 PID-9'. Null for a
--   version of a client with more than 64 KiB.
-- - p_at, p_patient: last_updated and patient_id of the version.
create or replace function provenance_facts(p_site uuid, p_type text, p_id uuid, p_version integer, p_at timestamptz, p_patient uuid)
returns json language plpgsql stable as $$
declare
  subject uuid := coalesce(p_patient, p_id);
  client text;
  person text;
  elements text;
  message json;
  content text;
  previous text;
begin
  select m.client_id, e.elements, json_build_object('id', m.message_id, 'type', m.message_type, 'controlId', m.control_id,
           'application', m.sending_application, 'facility', m.sending_facility,
           'receivedAt', to_char(m.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'forgottenAt', to_char(m.forgotten_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    into client, elements, message
    from hl7_message_resource e join hl7_message m on m.site_id = e.site_id and m.message_id = e.message_id
   where e.site_id = p_site and e.type = p_type and e.id = p_id and e.version = p_version and e.is_written
   limit 1;
  if not found then
    select x.undone_by into person
      from patient_merge x
     where x.site_id = p_site and (x.merged = subject or x.survivor = subject) and x.undone_at is not null
       and exists (select from json_array_elements(x.undone) w
                    where w ->> 0 = p_type and w ->> 1 = p_id::text and w ->> 2 = p_version::text)
     limit 1;
    -- The request writes its audit row at its end, within the limit of its time. The first one after the version is its writer's.
    if not found then
      select a.client_id into client
        from audit a
       where a.site_id = p_site and a.at >= p_at and a.at < p_at + interval '30 s' and a.versions is not null
         and exists (select from unnest(a.types, a.ids, a.versions) w(type, id, version)
                      where w.type = p_type and w.id = p_id and w.version >= p_version)
       order by a.at limit 1;
    end if;
    select h.body into previous
      from resource_history h where h.site_id = p_site and h.type = p_type and h.id = p_id and h.version = p_version - 1;
    select v.body into content from (
      select r.body from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id and r.version = p_version
      union all
      select h.body from resource_history h where h.site_id = p_site and h.type = p_type and h.id = p_id and h.version = p_version) v;
    -- A page of versions must not parse two large documents for each of them.
    if octet_length(previous) <= 65536 and octet_length(content) <= 65536 then
      elements := (
        select string_agg(key, ',' order by key)
          from json_each_text(('{' || previous || '}')::json) o full join json_each_text(('{' || content || '}')::json) n using (key)
         where o.value is distinct from n.value);
    end if;
  end if;
  return json_build_object('clientId', client, 'elements', nullif(elements, ''), 'message', message, 'person', person);
end $$;
