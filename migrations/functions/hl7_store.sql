-- Stores a message and its effects if the snapshot on which it was decided is still current; else nothing.
--   - p_message { messageId, clientId, source, sourceAddress, tlsSubject, requestId, application, facility, controlId,
--     sha256, type, outcome, errors, actor, comment, jobId, hasFailed }. It also has why,
--     senders, settings, isControlIdReused, audit, keys, elapsedMs and rulesVersion.
--   - why: as of hl7_attempt; for 'received' nothing is stored yet.
--   - senders: the text that mllp_candidates left in gateway.senders when the API key was chosen; null if the key was
--     named.
--   - settings: as hl7_settings_state.
--   - isControlIdReused: for a received message, whether other bytes of its sender have its MSH-10.
--   - audit: as audit_add.
--   - keys: [{ key, field, value, authority }] as hl7_message_key.
--   - elapsedMs: since the message was received.
--   - rulesVersion: as of hl7_attempt.
--   - p_values, p_types, p_keys: as hl7_matches.
--   - p_states: of the rows that hl7_matches gave, in the order of their bytes. Null if they were an excess: then the
--     message is rejected for any rows.
--   - p_effects { resources, results, identities, merges, met, precedences, `attention`, unmapped, moved, aliases }.
--   - resources: as resource_write.
--   - results: as hl7_result.
--   - identities: [{ type, key, id }].
--   - merges: [{ from, to, isAbsorbed }]; isAbsorbed: the identifiers go to the survivor.
--   - met: [{ gone, kept }], ids of two resources that a merge makes one. Without gone, the merge changes kept otherwise.
--   - precedences: [{ type, id, fields }].
--   - `attention`: as attention_add.
--   - unmapped: [{ kind, name }], names without a URI, in capitals, without duplicates.
--   - moved: [{ patient, authority, value, led }], identifiers that another patient now has. Without led, those that
--     messages only listed.
--   - aliases: as authority_alias_add.
--   - p_documents: as documents_store.
--
-- The outcomes:
--   - 'stored'.
--   - 'seen' when these bytes were accepted before, with the first AA, unless an administrator replays them.
--   - 'changed' when the snapshot is no longer current, or the message was stored meanwhile: then nothing was stored.
--
-- The snapshot may be of any age, or invented: it is compared here, under the locks. Settings: migrations/README.md,
-- "Plans".
create or replace function hl7_store(p_site uuid, p_message json, p_raw bytea, p_ack bytea, p_values text[],
  p_types text[], p_keys text[], p_states text[], p_effects json, p_documents text[], out outcome text, out decided text, out ack bytea)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  m record;
  e record;
  g record;
  known bigint;
  -- The ids of new resources, later also of stored resources whose result has no row yet.
  made uuid[];
  gone uuid[] := '{}';
  kept uuid[] := '{}';
  ignored text;
  stored uuid;
  attempt integer;
  received timestamptz := now();
begin
  select x.* into m from json_to_record(p_message) as x("messageId" uuid, "clientId" text, source text,
    "sourceAddress" text, "tlsSubject" text, "requestId" text, application text, facility text, "controlId" text, sha256 text, type text,
    outcome text, errors json, why text, actor text, comment text, "jobId" uuid, "hasFailed" boolean, senders text,
    settings text, "isControlIdReused" boolean, audit json, keys json, "elapsedMs" integer,
    "rulesVersion" integer);

  outcome := 'changed';
  -- The candidates have changed since the API key was selected.
  if m.senders <> coalesce(current_setting('gateway.senders', true), '') then return; end if;

  -- Two messages about one patient wait for each other, even if the patient does not exist yet. A message and a FHIR
  -- client's conditional create wait for each other too (edge/store/lock.ts).
  ignored := lock_keys(p_site, array(select 'Patient|' || v from unnest(p_values) v));
  -- A change of the URIs of namespaces waits for the messages that do not know it yet (authorities_named).
  ignored := pg_advisory_xact_lock_shared(hashtextextended(p_site || '|authorities', 0));

  -- Before anything else: the settings decide on the answer to a retransmission too.
  if m.settings is distinct from hl7_settings_state(p_site, m."clientId") then return; end if;

  if m.why = 'received' then
    select x.message_id into stored from hl7_message x
     where x.site_id = p_site and x.client_id = m."clientId" and x.sending_application = m.application
       and x.sending_facility = m.facility and x.control_id = m."controlId" and x.sha256 = m.sha256;
    if not found and m."isControlIdReused" is distinct from (m."controlId" <> '' and exists (
        select from hl7_message x
         where x.site_id = p_site and x.client_id = m."clientId" and x.sending_application = m.application
           and x.sending_facility = m.facility and x.control_id = m."controlId" and x.sha256 <> m.sha256)) then
      return;
    end if;
  else
    -- Attempts at one message wait for each other, also where they find different patients.
    select x.message_id, x.received_at into stored, received
      from hl7_message x where x.site_id = p_site and x.message_id = m."messageId" for no key update;
    -- The message was deleted meanwhile (hl7_messages_forget).
    if not found then return; end if;
  end if;
  if stored is not null then
    -- The same bytes get the first AA again, from every sender. A step of a job that ran twice gets its recorded
    -- answer.
    select a.outcome, a.ack into decided, ack from hl7_attempt a
     where a.site_id = p_site and a.message_id = stored
       and (m.why not in ('replayed', 'forced') and a.outcome = 'AA' or a.job_id = m."jobId")
     order by a.outcome <> 'AA', a.number limit 1;
    if found then
      outcome := 'seen';
      return;
    end if;
    -- The same bytes were stored meanwhile and rejected: the edge decides again, as about a message that was resent.
    if m.why = 'received' then return; end if;
  end if;

  if p_states is not null and p_states is distinct from (
      select coalesce(array_agg(f.state order by f.state collate "C"), '{}')
        from hl7_matches(p_site, p_values, p_types, p_keys) f) then
    return;
  end if;

  if m.why = 'received' then
    insert into hl7_message (site_id, message_id, client_id, source, source_address, sending_application,
        sending_facility, control_id, sha256, message_type, raw, outcome, errors, has_failed, tls_subject)
      values (p_site, m."messageId", m."clientId", m.source, m."sourceAddress", m.application,
        m.facility, m."controlId", m.sha256, m.type, p_raw, m.outcome, m.errors, m."hasFailed", m."tlsSubject")
      on conflict (client_id, sending_application, sending_facility, control_id, sha256) do nothing;
    -- Stored by a simultaneous request, which this one has waited for.
    if not found then return; end if;
  else
    update hl7_message x set outcome = m.outcome, errors = m.errors, has_failed = m."hasFailed"
     where x.site_id = p_site and x.message_id = m."messageId";
    delete from unmapped_name u where u.site_id = p_site and u.message_id = m."messageId";
    -- With other settings the message may have other keys and other errors.
    delete from hl7_message_key k where k.site_id = p_site and k.message_id = m."messageId";
  end if;
  insert into hl7_message_key (site_id, key, received_at, message_id, number, field, value, authority)
    select p_site, k.value ->> 'key', received, m."messageId", k.n, k.value ->> 'field', k.value ->> 'value',
           k.value ->> 'authority'
      from json_array_elements(m.keys) with ordinality k(value, n);
  insert into hl7_attempt (site_id, message_id, number, why, actor, comment, job_id, request_id, outcome, ack, errors,
      rules_version, took_ms)
    select p_site, m."messageId", coalesce(max(a.number), 0) + 1, m.why, m.actor, m.comment, m."jobId", m."requestId",
           m.outcome, p_ack, m.errors, m."rulesVersion",
           m."elapsedMs" + round(1000 * extract(epoch from clock_timestamp() - now()))::integer
      from hl7_attempt a where a.site_id = p_site and a.message_id = m."messageId"
    returning number into attempt;
  -- A sender that is stuck on one message sends it again without end. The first ten and the newest hundred of its
  -- attempts stay. Those of people and of the gateway are few, and all stay.
  if attempt > 110 then
    delete from hl7_attempt a
     where a.site_id = p_site and a.message_id = m."messageId" and a.number = attempt - 100
       and a.why = 'resent' and a.outcome <> 'AA';
  end if;

  if m."hasFailed" then
    -- The gateway retries it (edge/hl7/ingest/replay/retry-job.ts).
    perform job_add(gen_random_uuid(), 'hl7-retry', p_site, 'site', '{}', null, 'gateway');
  end if;

  -- Most of these lists are empty, and starting a statement costs time even if it finds nothing to do. Texts are compared, because
  -- json_array_length reads all of a list.
  select x.* into e from json_to_record(p_effects) as x(resources json, results json, identities json, merges json,
    precedences json, moved json, aliases json, attention json, unmapped json, met json);
  if e.merges::text <> '[]' then
    perform hl7_merge_keep(p_site, m."messageId", e.merges, e.met, e.precedences);
  end if;
  if e.moved::text <> '[]' then
    delete from patient_identity i
     using json_to_recordset(e.moved) as x(patient uuid, authority text, value text, led boolean)
     where i.site_id = p_site and i.id = x.patient and i.authority = search_key(x.authority) and i.value = search_key(x.value)
       and (x.led or not i.led);
  end if;
  if e.resources::text <> '[]' then
    with written as (
      insert into hl7_message_resource (site_id, message_id, type, id, version, is_written, elements)
        select p_site, m."messageId", r.type, w.id, w.version, w.outcome in ('created', 'updated'), r.elements
          from resource_write(p_site, e.resources) w
          join rows from (json_to_recordset(e.resources) as (type text, elements text)) with ordinality r(type, elements, n)
            on r.n = w.ordinal + 1
        on conflict do nothing
        returning id, version, is_written)
    select array_agg(w.id) into made from written w where w.version = 1 and w.is_written;
  end if;
  if e.identities::text <> '[]' then
    insert into hl7_identity (site_id, type, key, id)
      select p_site, x.type, x.key, x.id from json_to_recordset(e.identities) as x(type text, key text, id uuid)
      on conflict do nothing;
    get diagnostics known = row_count;
    if known <> json_array_length(e.identities) then
      -- Another message gave a key to this patient under another of its identifiers: all is undone, and tried again.
      raise exception 'another message has stored this HL7 key meanwhile' using errcode = 'GW412';
    end if;
  end if;
  if e.met::text <> '[]' then
    select coalesce(array_agg(x.gone), '{}'), coalesce(array_agg(x.kept), '{}') into gone, kept
      from json_to_recordset(e.met) as x(gone uuid, kept uuid) where x.gone is not null;
    -- No message finds them any more, and the results that stay can get their places.
    delete from hl7_result h
     where h.site_id = p_site and h.type in ('Observation', 'DiagnosticReport') and h.id = any (gone);
  end if;
  if e.results::text <> '[]' then
    -- Each found result keeps its row, which may get more parts of its key. No other transaction has given a new result
    -- its place. The rows are updated one at a time by key, since PostgreSQL may plan a join by reading every result of
    -- the site. Existing rows are first, since a new row can get a place that an existing row leaves.
    for g in
      select x.* from json_to_recordset(e.results) as x(type text, id uuid, filler text, placer text, at text, numbers text)
       where x.id not in (select unnest(made))
    loop
      update hl7_result h set filler = g.filler, placer = g.placer, at = g.at, numbers = g.numbers
       where h.site_id = p_site and h.type = g.type and h.id = g.id;
      if not found then made := made || g.id; end if;
    end loop;
    with wanted as materialized (
      select x.*
        from json_to_recordset(e.results) as x(type text, id uuid, "patientId" uuid, what text, filler text, placer text, at text,
             place integer, numbers text)
       where x.id in (select unnest(made))
    ), added as (
      insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
        select p_site, x.type, x.id, x."patientId", x.what, x.filler, x.placer, x.at, x.place, x.numbers from wanted x
        on conflict do nothing
        returning id)
    select (select count(*) from wanted) - (select count(*) from added) into known;
    if known > 0 then
      raise exception 'a result with this key was stored meanwhile' using errcode = 'GW412';
    end if;
  end if;
  if e.precedences::text <> '[]' then
    insert into hl7_precedence (site_id, type, id, fields)
      select p_site, x.type, x.id, x.fields from json_to_recordset(e.precedences) as x(type text, id uuid, fields text)
      on conflict (site_id, type, id) do update set fields = excluded.fields
       where hl7_precedence.fields <> excluded.fields;
  end if;
  if e.merges::text <> '[]' then
    for g in select x.* from json_to_recordset(e.merges) as x("from" uuid, "to" uuid, "isAbsorbed" boolean) loop
      perform hl7_merge(p_site, m."messageId", g."from", g."to", gone, kept);
      if g."isAbsorbed" then
        insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
          select p_site, i.value, i.authority, g."to", i.number_type, i.led, i.is_assumed, i.is_taught
            from patient_identity i where i.site_id = p_site and i.id = g."from"
          on conflict do nothing;
        delete from patient_identity i where i.site_id = p_site and i.id = g."from";
      end if;
    end loop;
  end if;
  if e.attention::text <> '[]' then
    perform attention_add(p_site, m."messageId", e.attention);
  end if;
  if e.unmapped::text <> '[]' then
    insert into unmapped_name (site_id, kind, name, message_id)
      select p_site, x.kind, x.name, m."messageId" from json_to_recordset(e.unmapped) as x(kind text, name text)
       where x.name <> '';
  end if;
  if e.aliases::text <> '[]' then
    perform authority_alias_add(p_site, m."clientId", m."messageId", e.aliases);
  end if;

  if p_documents <> '{}' or strpos(p_effects::text, '"data\":[') > 0 then
    ignored := documents_store(p_site, m."messageId", p_documents, p_effects);
  end if;

  ignored := audit_note(array[row('message', 'Hl7Message', m."messageId", null)::audit_item]);
  ignored := audit_add(p_site, m.audit);

  outcome := 'stored';
  decided := m.outcome;
  ack := p_ack;
end $$;
