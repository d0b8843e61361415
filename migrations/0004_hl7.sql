-- HL7 v2 ingest: what a message finds, and how it is stored. A message is read and mapped by the edge between the two
-- functions; hl7_store takes the locks and refuses to store what was mapped from a state that has passed.

create index hl7_identity_of on hl7_identity (site_id, type, id);
create index hl7_message_received on hl7_message (site_id, received_at desc, message_id desc);

-- What each field of PID, PD1 … last gave to a patient's lists, so that the next message replaces that and nothing else.
create table hl7_contribution (
  site_id uuid not null,
  id uuid not null,
  type text generated always as ('Patient') stored,
  fields text not null,
  primary key (site_id, id),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);

-- The patients that have one of the identifier values, those they were merged into, and the resources that HL7 keys
-- (p_types[i], p_keys[i]) stand for with one of these patients. Keys in hl7_identity end in '@' and the patient's id.
-- PL/pgSQL keeps the plan, which costs more than the look-ups. The laterals with a limit are look-ups by key, one at a
-- time: no estimate can make scans of them.
create function hl7_match(p_site uuid, p_values text[], p_types text[], p_keys text[])
returns table (role text, key text, type text, id uuid, version integer, last_updated timestamptz, meta text, body text,
  contributions text)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query with recursive direct as (
    select distinct i.id from resource_identifier i
     where i.site_id = p_site and i.type = 'Patient' and i.value = any (p_values)
     order by i.id limit 100
  ), chain (id, depth) as (
    select d.id, 0 from direct d
    union
    select l.target, c.depth + 1
      from chain c
     cross join lateral (
       select x.body from resource x where x.site_id = p_site and x.type = 'Patient' and x.id = c.id limit 1) r
     cross join lateral (
       select substring(e -> 'other' ->> 'reference' from '^Patient/([0-9a-f-]{36})$')::uuid as target
         from json_array_elements(
                case when r.body like '%"replaced-by"%' then ('{' || r.body || '}')::json -> 'link' end) e
        where e ->> 'type' = 'replaced-by') l
     where c.depth < 16 and l.target is not null
  ), patient as (
    select distinct c.id from chain c
  )
  select 'patient', '', r.type, r.id, r.version, r.last_updated::timestamptz, r.meta, r.body, f.fields
    from patient p
   cross join lateral (
     select x.* from resource x where x.site_id = p_site and x.type = 'Patient' and x.id = p.id limit 1) r
    left join lateral (
     select x.fields from hl7_contribution x where x.site_id = p_site and x.id = p.id limit 1) f on true
  union all
  select 'identity', i.key, i.type, i.id, r.version, r.last_updated, r.meta, r.body, null
    from patient p
   cross join unnest(p_types, p_keys) as k(type, key)
   cross join lateral (
     select x.* from hl7_identity x
      where x.site_id = p_site and x.type = k.type and x.key = k.key || '@' || p.id::text limit 1) i
   cross join lateral (
     select x.* from resource x where x.site_id = p_site and x.type = i.type and x.id = i.id limit 1) r;
end $$;

-- One text for all that hl7_match finds: the same text, the same rows in the same versions.
create function hl7_state(p_site uuid, p_values text[], p_types text[], p_keys text[]) returns text
language plpgsql stable as $$
begin
  return (select coalesce(md5(string_agg(concat_ws('|', m.role, m.key, m.type, m.id, m.version), ','
                   order by m.role, m.key, m.type, m.id)), '')
            from hl7_match(p_site, p_values, p_types, p_keys) m);
end $$;

-- Everything that belongs to one patient goes to another (ADT A18, A34, A39, A40): references in the stored text,
-- patient_id, studies, HL7 keys. Each resource moved gets a new version.
create function hl7_merge(p_site uuid, p_message uuid, p_from uuid, p_to uuid) returns void
language plpgsql as $$
declare
  at timestamptz := date_trunc('milliseconds', clock_timestamp());
  s record;
  target uuid;
begin
  perform from resource r where r.site_id = p_site and r.patient_id = p_from order by r.type, r.id for update;

  insert into resource_history (site_id, type, id, version, last_updated, meta, body)
    select r.site_id, r.type, r.id, r.version, r.last_updated, r.meta, r.body
      from resource r where r.site_id = p_site and r.patient_id = p_from;
  insert into hl7_message_resource (site_id, message_id, type, id, version)
    select r.site_id, p_message, r.type, r.id, r.version + 1
      from resource r where r.site_id = p_site and r.patient_id = p_from
    on conflict (site_id, message_id, type, id) do update set version = excluded.version;
  update hl7_identity i set key = left(i.key, -36) || p_to::text
    from resource r
   where r.site_id = p_site and r.patient_id = p_from
     and i.site_id = p_site and i.type = r.type and i.id = r.id and i.key like '%@' || p_from::text
     and not exists (select from hl7_identity o
                      where o.site_id = p_site and o.type = i.type and o.key = left(i.key, -36) || p_to::text);
  update resource r
     set version = r.version + 1,
         last_updated = greatest(at, r.last_updated),
         body = regexp_replace(r.body, '"Patient/' || p_from::text || '(/_history/[^"]*)?"',
           '"Patient/' || p_to::text || '"', 'g'),
         patient_id = p_to
   where r.site_id = p_site and r.patient_id = p_from;

  for s in select x.study_id, x.accession from study x where x.site_id = p_site and x.patient_id = p_from for update loop
    select x.study_id into target from study x
     where x.site_id = p_site and x.patient_id = p_to and x.accession = s.accession;
    if found then
      update report x set study_id = target where x.site_id = p_site and x.study_id = s.study_id;
      delete from study x where x.site_id = p_site and x.study_id = s.study_id;
    else
      update study x set patient_id = p_to where x.site_id = p_site and x.study_id = s.study_id;
    end if;
  end loop;
end $$;

-- Stores a message and all its effects, or nothing.
--   p_message { messageId, clientId, source, sourceAddress, requestId, application, facility, controlId, sha256, type,
--     outcome, errors, replay }
--   p_effects { resources: [as resource_write], identities: [{ type, key, id }], merges: [{ from, to }],
--     contributions: [{ id, fields }] }
-- One row: outcome is 'stored'; 'seen' when these very bytes are stored already, with what was decided then; or 'retry'
-- when what hl7_match found is no longer so, and nothing was stored.
create function hl7_store(p_site uuid, p_message json, p_raw bytea, p_ack bytea, p_values text[], p_types text[],
  p_keys text[], p_state text, p_effects json)
returns table (outcome text, decided text, ack bytea)
language plpgsql as $$
#variable_conflict use_column
declare
  m record;
  g record;
  known bigint;
begin
  select x.* into m from json_to_record(p_message) as x("messageId" uuid, "clientId" text, source text,
    "sourceAddress" text, "requestId" text, application text, facility text, "controlId" text, sha256 text, type text,
    outcome text, errors json, replay boolean);

  -- Two messages about one patient take turns, also when the patient does not exist yet; so do a message and a FHIR
  -- client's conditional create (edge/store/lock.ts).
  perform lock_keys(p_site, array(select 'Patient|' || v from unnest(p_values) v));

  if not m.replay then
    return query select 'seen', x.outcome, x.ack from hl7_message x
      where x.site_id = p_site and x.client_id = m."clientId" and x.sending_application = m.application
        and x.sending_facility = m.facility and x.control_id = m."controlId" and x.sha256 = m.sha256;
    if found then return; end if;
  end if;

  if p_state is distinct from hl7_state(p_site, p_values, p_types, p_keys) then
    return query select 'retry', null::text, null::bytea;
    return;
  end if;

  if m.replay then
    update hl7_message x set outcome = m.outcome, ack = p_ack, errors = m.errors
     where x.site_id = p_site and x.message_id = m."messageId";
  else
    insert into hl7_message (site_id, message_id, client_id, source, source_address, request_id, sending_application,
        sending_facility, control_id, sha256, message_type, raw, outcome, ack, errors)
      values (p_site, m."messageId", m."clientId", m.source, m."sourceAddress", m."requestId", m.application,
        m.facility, m."controlId", m.sha256, m.type, p_raw, m.outcome, p_ack, m.errors)
      on conflict (site_id, client_id, sending_application, sending_facility, control_id, sha256) do nothing;
    if not found then
      -- Stored by a simultaneous request, which has been waited for.
      return query select 'seen', x.outcome, x.ack from hl7_message x
        where x.site_id = p_site and x.client_id = m."clientId" and x.sending_application = m.application
          and x.sending_facility = m.facility and x.control_id = m."controlId" and x.sha256 = m.sha256;
      return;
    end if;
  end if;

  insert into hl7_message_resource (site_id, message_id, type, id, version)
    select p_site, m."messageId", r.value ->> 'type', w.id, w.version
      from resource_write(p_site, p_effects -> 'resources') w
      join json_array_elements(p_effects -> 'resources') with ordinality r(value, n) on r.n = w.ordinal + 1
    on conflict (site_id, message_id, type, id) do update set version = excluded.version;
  insert into hl7_identity (site_id, type, key, id)
    select p_site, x.type, x.key, x.id
      from json_to_recordset(p_effects -> 'identities') as x(type text, key text, id uuid)
    on conflict do nothing;
  get diagnostics known = row_count;
  if known <> json_array_length(p_effects -> 'identities') then
    -- Another message gave a key to this patient under another of its identifiers: all is undone, and tried again.
    raise exception 'an HL7 key was taken meanwhile' using errcode = 'GW412';
  end if;
  insert into hl7_contribution (site_id, id, fields)
    select p_site, x.id, x.fields
      from json_to_recordset(p_effects -> 'contributions') as x(id uuid, fields text)
    on conflict (site_id, id) do update set fields = excluded.fields
     where hl7_contribution.fields <> excluded.fields;
  for g in select x."from", x."to" from json_to_recordset(p_effects -> 'merges') as x("from" uuid, "to" uuid) loop
    perform hl7_merge(p_site, m."messageId", g."from", g."to");
  end loop;

  return query select 'stored', m.outcome, p_ack;
end $$;
