-- Loads the snapshot for the decision on a message (edge/hl7/ingest/snapshot): the possible API keys with their
-- settings, and the rows that concern the message.
--   - p_opening: as hl7_open.
--   - p_message: { application, facility, controlId, sha256 }.
--   - p_values, p_types, p_keys: as hl7_matches.
--   - p_shown: the action of the audit (edge/audit-actions.ts) if a person sees the result, else null.
--   - p_systems, p_codes: as hl7_codes; null if no codes are looked up.
--
-- Returns one row, each column a JSON list or null:
--   - candidates: as hl7_open returns them.
--   - senders: of hl7_sender.
--   - matches: of hl7_matches_json.
--   - codes: { tables: as site.code_tables, rows: of hl7_codes }; null without a live table.
create or replace function hl7_load(p_opening text[], p_message json, p_values text[], p_types text[], p_keys text[],
  p_shown text, p_systems text[], p_codes text[])
returns table (candidates text, senders text, matches text, codes text)
language plpgsql as $$
#variable_conflict use_column
declare
  tables jsonb;
  -- Null where keys of several sites may be meant: then nothing is found, and the edge asks again by name.
  site uuid;
  ignored text;
begin
  candidates := hl7_open(p_opening);
  site := nullif(current_setting('gateway.site', true), '')::uuid;
  senders := (
    select json_agg(s)
      from hl7_sender(site, case when cardinality(p_opening) <> 4 then p_opening[2] end,
        p_message ->> 'application', p_message ->> 'facility', p_message ->> 'controlId', p_message ->> 'sha256') s);
  matches := hl7_matches_json(site, p_values, p_types, p_keys, true);
  if p_codes <> '{}' then
    tables := (select s.code_tables from site s where s.site_id = site);
    if tables <> '[]' then
      codes := json_build_object('tables', tables, 'rows', hl7_codes(site, tables, p_systems, p_codes)::json);
    end if;
  end if;
  if p_shown is not null and matches is distinct from 'excess' then
    ignored := audit_note(array(
      select row(p_shown, r.type, r.id, r.patient_id)::audit_item
        from json_to_recordset(matches::json) as m(type text, id uuid)
       cross join lateral (
         select x.* from resource x where x.site_id = site and x.type = m.type and x.id = m.id limit 1) r));
  end if;
  return next;
end $$;
