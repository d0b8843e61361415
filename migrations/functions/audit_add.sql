-- Writes the single audit row of an access from the items that its statements have noted (audit_note, audit_write).
--   - p_entry { actorKind, actor, clientId, address, requestId, action, searched: as the arguments of audit_write }
create or replace function audit_add(p_site uuid, p_entry json) returns void language plpgsql as $$
declare
  ignored text;
begin
  ignored := audit_write(p_site, p_entry ->> 'actorKind', p_entry ->> 'actor', p_entry ->> 'clientId', p_entry ->> 'address',
    p_entry ->> 'requestId', p_entry ->> 'action',
    case when json_typeof(p_entry -> 'searched') = 'array'
         then array(select json_array_elements_text(p_entry -> 'searched')) end, audit_noted());
  ignored := set_config('gateway.audit', '', true);
  ignored := set_config('gateway.audit_kept', '', true);
  ignored := set_config('gateway.versions', '', true);
end $$;
