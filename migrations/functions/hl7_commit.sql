-- Commits a message. It checks the sender, then compares the snapshot on which the decision is based. If the snapshot
-- is still current, it stores the message with its effects (hl7_store). Otherwise it returns the current snapshot.
--   - p_deadline, p_lock_ms, p_work_ms: as limit_time, if this statement is a complete request of bounded size that
--     finds and writes by key. Else null, in a transaction that limits its time.
--   - p_opening: as hl7_open.
--   - p_site, p_message … p_documents: as hl7_store.
--
-- Returns one row: outcome, decided and ack as hl7_store returns them, ack in hexadecimal; candidates, senders and
-- matches as hl7_load. The last three are null if the message was stored. The exception is a stored message that its
-- sender sent: it returns matches without contents, which the sender's isolate remembers. With more than 1,000 keys no
-- isolate remembers them (edge/hl7/ingest/snapshot/record-cache.ts). Those of a message with more than 1 MiB of effects,
-- some hundred results, would take a tenth of its time.
--   - began_at: of limit_time.
create or replace function hl7_commit(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_opening text[], p_site uuid,
  p_message json, p_raw bytea, p_ack bytea, p_values text[], p_types text[], p_keys text[], p_states text[], p_effects json,
  p_documents text[])
returns table (outcome text, decided text, ack text, candidates text, senders text, matches text, began_at bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  stored record;
  ignored text;
begin
  if p_deadline is not null then
    began_at := limit_time(p_deadline, p_lock_ms, p_work_ms);
  end if;
  ignored := hl7_open(p_opening);
  stored := hl7_store(p_site, p_message, p_raw, p_ack, p_values, p_types, p_keys, p_states, p_effects,
    p_documents);
  outcome := stored.outcome;
  decided := stored.decided;
  ack := encode(stored.ack, 'hex');
  if outcome = 'changed' then
    select l.candidates, l.senders, l.matches into candidates, senders, matches
      from hl7_load(p_opening, p_message, p_values, p_types, p_keys, null, null, null) l;
  elsif outcome = 'stored' and p_message ->> 'why' in ('received', 'resent') and cardinality(p_keys) <= 1000
    and p_states is not null and octet_length(p_effects::text) <= 1024 * 1024 then
    matches := hl7_matches_json(p_site, p_values, p_types, p_keys, false);
  end if;
  if p_deadline is not null then
    ignored := assert_in_time(p_deadline);
  end if;
  return next;
end $$;
