-- Returns the items that audit_note received in this transaction; null for nothing.
create or replace function audit_noted() returns audit_item[] language plpgsql stable as $$
begin
  return nullif('{' || concat_ws(',', nullif(current_setting('gateway.audit_kept', true), ''),
    nullif(current_setting('gateway.audit', true), '')) || '}', '{}')::audit_item[];
end $$;
