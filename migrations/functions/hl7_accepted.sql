-- What answers the same bytes again: the first attempt at the message that was AA. One row, as hl7_take returns it:
-- 'seen' with that answer; or 'retry' where there is none, so that the message is to be processed anew.
create or replace function hl7_accepted(p_site uuid, p_message uuid)
returns table (outcome text, decided text, ack bytea)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select 'seen', a.outcome, a.ack from hl7_attempt a
    where a.site_id = p_site and a.message_id = p_message and a.outcome = 'AA' order by a.number limit 1;
  if not found then
    return query select 'retry', null::text, null::bytea;
  end if;
end $$;
