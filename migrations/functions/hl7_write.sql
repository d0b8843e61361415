-- A message as a whole request, by what its sender's isolate believes: who sends is let in, the message is taken (hl7_take),
-- and where it is not, what there is instead comes back. One statement, whose plans are kept.
--   p_opening: the arguments of assert_caller for an access token, its scopes last, one by one; or [address, MSH-3, MSH-4,
--     certificate's subject] of whom a sidecar heard, as mllp_candidates takes them
--   p_site, p_message … p_effects: as hl7_take; p_message { application, facility, controlId, sha256 } is looked for
--   p_is_learnt: what the look-up finds is wanted of a message that was stored, too
-- One row: outcome, decided and ack as hl7_take has them, ack in hexadecimal; and as JSON
--   candidates: rows of mllp_candidates; senders: texts of hl7_sender, where the message was not taken; matches: rows of
--     hl7_known, last_updated a FHIR instant, without contents where the message was stored.
-- Its time is limited as request_begin says: it is for messages that write and find by key, and of bounded size.
-- began_at: of limit_time.
create or replace function hl7_write(p_deadline bigint, p_lock_ms integer, p_work_ms integer, p_opening text[], p_site uuid,
  p_message json, p_raw bytea, p_ack bytea, p_values text[], p_types text[], p_keys text[], p_states text[], p_effects json,
  p_is_learnt boolean)
returns table (outcome text, decided text, ack text, candidates text, senders text, matches text, began_at bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  is_by_name boolean := cardinality(p_opening) <> 4;
  -- Else it is that of the candidates, which the transaction is in.
  named_site uuid := case when is_by_name then p_site end;
  taken bytea;
  ignored text;
begin
  began_at := limit_time(p_deadline, p_lock_ms, p_work_ms);
  if is_by_name then
    ignored := assert_caller(p_opening[1]::uuid, p_opening[2], p_opening[3], p_opening[4], p_opening[5], p_opening[6:]);
  else
    candidates := (
      select json_agg(c) from mllp_candidates(p_opening[1], p_opening[2], p_opening[3], p_opening[4]) c);
  end if;
  select t.outcome, t.decided, t.ack into outcome, decided, taken
    from hl7_take(p_site, p_message, p_raw, p_ack, p_values, p_types, p_keys, p_states, p_effects) t;
  ack := encode(taken, 'hex');
  if outcome = 'retry' then
    senders := (
      select json_agg(s)
        from hl7_sender(named_site, case when is_by_name then p_opening[2] end,
          p_message ->> 'application', p_message ->> 'facility', p_message ->> 'controlId', p_message ->> 'sha256') s);
  end if;
  if outcome = 'retry' or outcome = 'stored' and p_is_learnt then
    matches := (
      select json_agg(json_build_object('role', m.role, 'key', m.key, 'type', m.type, 'id', m.id, 'version', m.version,
               'last_updated', to_char(m.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'meta', case when outcome = 'retry' then m.meta else '' end,
               'body', case when outcome = 'retry' then m.body else '' end,
               'contributions', m.contributions, 'asked', m.asked, 'state', m.state))
        from hl7_known(coalesce(named_site, nullif(current_setting('gateway.site', true), '')::uuid),
          p_values, p_types, p_keys) m);
  end if;
  ignored := assert_in_time(p_deadline);
  return next;
end $$;
