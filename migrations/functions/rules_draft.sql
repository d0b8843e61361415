-- Saves the draft of a key's rules. Messages are not read by it.
--   - p_edits: as rules_draft.edits when the person read the draft; 0 without a draft.
--   - p_rules: as `senderRules` (edge/members/sender-rules.ts) writes them.
--
-- Returns 'done', 'missing' (no such key) or 'edits' (changed meanwhile). Only 'done' changes something.
create or replace function rules_draft(p_site uuid, p_client text, p_edits integer, p_rules json, p_by text) returns text
language plpgsql as $$
begin
  -- Saves and releases of a key follow each other. The key's row is there before the first draft.
  perform from api_key k where k.site_id = p_site and k.client_id = p_client for no key update;
  if not found then return 'missing'; end if;
  if p_edits is distinct from coalesce(
      (select d.edits from rules_draft d where d.site_id = p_site and d.client_id = p_client), 0) then
    return 'edits';
  end if;
  insert into rules_draft as d (site_id, client_id, rules, edits, by) values (p_site, p_client, p_rules, 1, p_by)
    on conflict (site_id, client_id) do update
      set rules = excluded.rules, edits = d.edits + 1, at = excluded.at, by = excluded.by;
  perform audit_note(array[row('rules-changed', 'ApiKey', substr(p_client, 5), null)::audit_item]);
  return 'done';
end $$;
