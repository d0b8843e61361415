-- Notes the items that a statement has read or written, for the row that audit_add writes at the end of the
-- transaction. It ignores nulls among p_items. Always returns true. The setting is the inside of an array literal
-- (audit_noted).
create or replace function audit_note(p_items audit_item[]) returns boolean language plpgsql as $$
begin
  return set_config('gateway.audit', concat_ws(',', nullif(current_setting('gateway.audit', true), ''),
    nullif(btrim(array_remove(p_items, null)::text, '{}'), '')), true) is not null;
end $$;
