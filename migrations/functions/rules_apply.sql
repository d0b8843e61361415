-- Makes rules of a site's file live for a key, as a new version. A draft that differs from the version that was live stays.
--   - p_expected: the version that was live when the file was planned; null for none.
--   - p_rules: as rules_draft; null to switch the rules off.
--
-- Returns 'done', 'version' if there is no such key, or another version is live, or another outcome of rules_release. The caller
-- undoes all but 'done' (site_apply).
create or replace function rules_apply(p_site uuid, p_client text, p_expected integer, p_rules json, p_by text, p_comment text)
returns text
language plpgsql as $$
declare
  v_live integer;
  v_newest integer;
  v_edits integer;
  v_rules json;
  v_at timestamptz;
  v_by text;
  keeps_draft boolean;
  v_outcome text;
begin
  select (k.hl7_rules ->> 'version')::integer into v_live
    from api_key k where k.site_id = p_site and k.client_id = p_client for no key update;
  if not found or v_live is distinct from p_expected then return 'version'; end if;
  select d.edits, d.rules, d.at, d.by into v_edits, v_rules, v_at, v_by from rules_draft d where d.site_id = p_site and d.client_id = p_client;
  if p_rules is null then
    return rules_release(p_site, p_client, null, coalesce(v_edits, 0), p_by, p_comment);
  end if;
  keeps_draft := coalesce(v_rules::text, '[]') <> coalesce((
    select v.rules::text from rules_version v where v.site_id = p_site and v.client_id = p_client and v.version = v_live), '[]');
  select coalesce(max(v.version), 0) into v_newest from rules_version v where v.site_id = p_site and v.client_id = p_client;
  insert into rules_draft as d (site_id, client_id, rules, edits, by) values (p_site, p_client, p_rules, 1, p_by)
    on conflict (site_id, client_id) do update
      set rules = excluded.rules, edits = d.edits + 1, at = excluded.at, by = excluded.by;
  v_outcome := rules_release(p_site, p_client, v_newest + 1, coalesce(v_edits, 0) + 1, p_by, p_comment);
  if keeps_draft then
    update rules_draft d set rules = v_rules, at = v_at, by = v_by
     where d.site_id = p_site and d.client_id = p_client;
  end if;
  return v_outcome;
end $$;
