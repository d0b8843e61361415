-- Makes a version of a key's rules live, or switches the rules off. It applies to the next message.
--   - p_version: the newest version plus 1 for the draft, which becomes that version; an earlier version; null to switch the
--     rules off.
--   - p_edits: as rules_draft.edits when the person read the rules; 0 without a draft.
--
-- Returns 'done', 'missing' (no such key), 'edits' (changed meanwhile), 'unchanged' (these rules are live already) or 'version'
-- (no such version). Only 'done' changes something.
create or replace function rules_release(p_site uuid, p_client text, p_version integer, p_edits integer, p_by text,
  p_comment text) returns text
language plpgsql as $$
declare
  v_live integer;
  v_newest integer;
  v_draft rules_draft;
  v_rules json;
begin
  select (k.hl7_rules ->> 'version')::integer into v_live
    from api_key k where k.site_id = p_site and k.client_id = p_client for no key update;
  if not found then return 'missing'; end if;
  select d.* into v_draft from rules_draft d where d.site_id = p_site and d.client_id = p_client;
  if coalesce(v_draft.edits, 0) <> p_edits then return 'edits'; end if;
  if p_version is not distinct from v_live then return 'unchanged'; end if;
  select coalesce(max(v.version), 0) into v_newest from rules_version v where v.site_id = p_site and v.client_id = p_client;
  if p_version = v_newest + 1 and v_draft.rules is not null then
    if exists (select from rules_version v where v.site_id = p_site and v.client_id = p_client and v.version = v_live
        and v.rules::text = v_draft.rules::text) then
      return 'unchanged';
    end if;
    v_rules := v_draft.rules;
    insert into rules_version (site_id, client_id, version, rules) values (p_site, p_client, p_version, v_rules);
  elsif p_version is not null then
    select v.rules into v_rules from rules_version v
     where v.site_id = p_site and v.client_id = p_client and v.version = p_version;
    if not found then return 'version'; end if;
  end if;
  update api_key k
     set hl7_rules = case when p_version is not null then jsonb_build_object('version', p_version, 'rules', v_rules) end
   where k.site_id = p_site and k.client_id = p_client;
  update rules_draft d set edits = d.edits + 1 where d.site_id = p_site and d.client_id = p_client;
  insert into rules_release (site_id, client_id, number, version, by, comment)
    select p_site, p_client, coalesce(max(r.number), 0) + 1, p_version, p_by, p_comment
      from rules_release r where r.site_id = p_site and r.client_id = p_client;
  perform audit_note(array[row('rules-live', 'ApiKey', substr(p_client, 5), null)::audit_item]);
  return 'done';
end $$;
