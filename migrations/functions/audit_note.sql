-- Notes the items that a statement has read or written, for the row that audit_add writes at the end of the
-- transaction. It ignores nulls among p_items. Always returns true. The settings are the inside of an array literal
-- (audit_noted). PostgreSQL copies a setting each time, so gateway.audit stays short. gateway.audit_kept has the items before it.
create or replace function audit_note(p_items audit_item[]) returns boolean language plpgsql as $$
declare
  items text := nullif(btrim(array_remove(p_items, null)::text, '{}'), '');
  ignored text;
begin
  if items is null then return true; end if;
  items := concat_ws(',', nullif(current_setting('gateway.audit', true), ''), items);
  if length(items) > 8000 then
    ignored := set_config('gateway.audit_kept', concat_ws(',', nullif(current_setting('gateway.audit_kept', true), ''), items), true);
    items := '';
  end if;
  return set_config('gateway.audit', items, true) is not null;
end $$;
