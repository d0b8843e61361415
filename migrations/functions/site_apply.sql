-- Applies the changes of a site's file, all or none, each with its row of the audit.
--   - p_audit: as the argument of audit_add.
--   - p_changes: an array of { kind, … } in the order of writing. "settings" has the arguments expected and record of
--     site_write. "api-key" has those of api_key_write: clientId, expected, record, owned and foreign; a new one also has
--     "known", the Client IDs that may have its name. "address" has range, application, facility and tlsSubject.
--     "subscription" has id, clientId, record and limit of subscription_write, and the expected version of a stored one. With
--     change, only the delivery changes (subscription_switch). A new one has "known", the ids of those that may equal it.
--     "rules" has clientId, expected, rules and comment of rules_apply; "code-table" has p_change of code_table_apply, its
--     expected, maxTables, maxSystems and comment.
-- Returns the number of changes.
--
-- Raises GW412 with the position of a change whose record is another one than the plan had. Raises GW409 for an address that
-- is another site's, and the errors of api_key_write.
create or replace function site_apply(p_site uuid, p_by text, p_audit json, p_changes json) returns integer
language plpgsql as $$
declare
  change json;
  n integer := 0;
  v_outcome text;
  v_expected integer[];
  v_taken integer;
  v_id uuid;
  v_record json;
  v_is_new boolean;
begin
  -- Two files for one site are applied one after the other.
  perform from site s where s.site_id = p_site for no key update;
  with made as materialized (
    select e.n - 1 as n, e.x -> 'record' ->> 'name' as name, array(select json_array_elements_text(e.x -> 'known')) as known
      from json_array_elements(p_changes) with ordinality e(x, n)
     where e.x ->> 'kind' = 'api-key' and json_typeof(e.x -> 'expected') = 'null')
  select min(m.n) into v_taken from made m join api_key k on k.site_id = p_site and k.name = m.name
   where k.client_id <> all (m.known);
  if v_taken is not null then
    raise exception 'the site changed since the plan' using errcode = 'GW412', detail = json_build_array(v_taken)::text;
  end if;
  for change in select x from json_array_elements(p_changes) x loop
    v_expected := case when json_typeof(change -> 'expected') = 'array'
      then array(select v::integer from json_array_elements_text(change -> 'expected') v) end;
    if change ->> 'kind' = 'settings' then
      select w.outcome into v_outcome from site_write(p_site, v_expected, p_by, change -> 'record') w;
    elsif change ->> 'kind' = 'address' then
      select a.outcome into v_outcome from site_address_add(p_site, change ->> 'range', change ->> 'application',
        change ->> 'facility', change ->> 'tlsSubject', p_by) a limit 1;
    elsif change ->> 'kind' = 'subscription' then
      v_id := (change ->> 'id')::uuid;
      v_record := change -> 'record';
      v_is_new := json_typeof(change -> 'expected') = 'null';
      if v_is_new and exists (select from subscription s where s.site_id = p_site and s.client_id = change ->> 'clientId'
            and s.type = v_record ->> 'type' and s.filter = v_record ->> 'filter' and s.endpoint = v_record ->> 'endpoint'
            and s.subscription_id::text <> all (array(select json_array_elements_text(change -> 'known'))))
        or not v_is_new and not exists (select from subscription s where s.site_id = p_site and s.subscription_id = v_id
            and s.version = (change ->> 'expected')::integer for no key update) then
        v_outcome := 'version';
      elsif change ->> 'change' is not null then
        select case w.outcome when 'done' then 'updated' else 'version' end into v_outcome
          from subscription_switch(p_site, v_id, change ->> 'change', null) w;
      else
        select case when w.outcome in ('created', 'updated') then w.outcome else 'version' end into v_outcome
          from subscription_write(p_site, change ->> 'clientId', v_id, v_is_new, v_record, null, (change ->> 'limit')::integer) w;
      end if;
    elsif change ->> 'kind' = 'rules' then
      v_outcome := rules_apply(p_site, change ->> 'clientId', (change ->> 'expected')::integer,
        case when json_typeof(change -> 'rules') = 'array' then change -> 'rules' end, p_by, change ->> 'comment');
    elsif change ->> 'kind' = 'code-table' then
      v_outcome := code_table_apply(p_site, change, (change ->> 'expected')::integer, (change ->> 'maxTables')::integer,
        (change ->> 'maxSystems')::integer, p_by, change ->> 'comment');
    else
      select w.outcome into v_outcome from api_key_write(p_site, change ->> 'clientId', v_expected, p_by, change -> 'record',
        case when json_typeof(change -> 'owned') = 'array'
             then array(select json_array_elements_text(change -> 'owned')) end,
        array(select json_array_elements_text(change -> 'foreign'))) w;
    end if;
    -- With any other outcome, the version that the plan showed is not live.
    if change ->> 'kind' in ('rules', 'code-table') and v_outcome <> 'done' then v_outcome := 'version'; end if;
    if v_outcome in ('version', 'missing') then
      raise exception 'the site changed since the plan' using errcode = 'GW412', detail = json_build_array(n)::text;
    elsif v_outcome = 'conflict' then
      raise exception 'an address is another site''s' using errcode = 'GW409', detail = json_build_array(n)::text;
    end if;
    perform audit_add(p_site, p_audit);
    n := n + 1;
  end loop;
  return n;
end $$;
