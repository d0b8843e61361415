-- Notes what a statement has read or written, for the row that audit_add writes at the end of the transaction. A line for
-- each resource: '<action> <type> <id> <patient it is about, where it is about one>'. Always true.
create or replace function audit_note(p_lines text[]) returns boolean language plpgsql as $$
begin
  return set_config('gateway.audit',
    concat_ws(E'\n', nullif(current_setting('gateway.audit', true), ''), nullif(array_to_string(p_lines, E'\n'), '')), true)
    is not null;
end $$;
