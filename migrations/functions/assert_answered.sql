-- The last statement of the reads of a transaction. Raises GW413 where a resource did not fit the answer (answer_note), which rolls
-- back the transaction (FHIR R4 http, 3.1.0.11.2).
create or replace function assert_answered() returns void language plpgsql as $$
begin
  if current_setting('gateway.answer_room', true) = '-1' then
    raise exception 'the answer has no room' using errcode = 'GW413';
  end if;
end $$;
