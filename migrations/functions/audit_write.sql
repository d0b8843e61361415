-- Writes the single audit row of an access. It writes nothing if nothing was noted and nothing was searched, since the
-- access then reached no data.
--   - p_actor_kind, p_actor, p_client, p_address, p_request: as the columns of audit.
--   - p_action: null for the single action of the items. Beside another action, a search is that action's condition.
--   - p_searched: names of the parameters of a search, which counts even if it found nothing; null for no search.
--   - p_noted: as audit_noted.
--
-- The setting gateway.versions has the versions that a client's writes made (resource_write).
--
-- The function has no settings, because they cost as much as the rest. The plans of its inserts are kept without them.
create or replace function audit_write(p_site uuid, p_actor_kind text, p_actor text, p_client text, p_address text,
  p_request text, p_action text, p_searched text[], p_noted audit_item[]) returns void language plpgsql as $$
declare
  is_bundle boolean := p_action in ('batch', 'transaction') is true;
  item audit_item;
  last audit_item;
  actions text[] := '{}';
  v_types text[] := '{}';
  v_ids uuid[] := '{}';
  v_patient uuid;
  v_patients uuid[] := '{}';
  v_versions integer[] := '{}';
  -- As jsonb, because json would be parsed again for each item.
  made jsonb := '{' || nullif(current_setting('gateway.versions', true), '') || '}';
begin
  if p_noted is null and p_searched is null then
    return;
  end if;
  if cardinality(p_noted) > 1 is not true and not is_bundle then
    item := p_noted[1];
    if item.type is null or item.type <> 'ApiKey' and (item.type <> 'Patient' or item.patient is null) then
      -- Most accesses reach one resource, or none.
      insert into audit (site_id, actor_kind, actor, client_id, address, request_id, action, types, ids, patients,
          parameters, versions)
        values (p_site, p_actor_kind, p_actor, p_client, p_address, p_request,
          coalesce(p_action, item.action, 'search'),
          array_remove(array[item.type], null), array_remove(array[item.id], null),
          array_remove(array[case item.type when 'Patient' then item.id else item.patient end], null),
          nullif(p_searched, '{}'), case when made is not null then array[(made ->> item.id::text)::integer] end);
      return;
    end if;
  end if;

  -- Adds each item once, in order. An item concerns the patient that it is and the patient that it is about. A loop
  -- takes a third of the time of aggregates of distinct values.
  for item in
    select i.* from unnest(p_noted) i order by i.type, i.id
  loop
    if item.action <> all (actions) then
      actions := actions || item.action;
    end if;
    if (item.type, item.id) is distinct from (last.type, last.id) then
      v_types := v_types || item.type;
      v_ids := v_ids || item.id;
      if made is not null then
        v_versions := v_versions || (made ->> item.id::text)::integer;
      end if;
      last := item;
    end if;
    if item.type = 'Patient' and item.id is distinct from v_patient then
      v_patient := item.id;
      v_patients := v_patients || v_patient;
    end if;
    if item.patient is distinct from v_patient and item.patient is not null then
      v_patient := item.patient;
      v_patients := v_patients || v_patient;
    end if;
  end loop;
  if p_searched is not null and 'search' <> all (actions) then
    actions := actions || 'search'::text;
  end if;
  if cardinality(actions) > 1 then
    actions := array(select a from unnest(actions) a order by a);
  end if;
  if cardinality(v_patients) > 1 then
    v_patients := array(select distinct p from unnest(v_patients) p order by p);
  end if;
  insert into audit (site_id, actor_kind, actor, client_id, address, request_id, action, parts, types, ids, patients,
      parameters, versions)
    values (p_site, p_actor_kind, p_actor,
      -- The API key that was created or changed.
      coalesce(p_client, 'svc-' || v_ids[array_position(v_types, 'ApiKey')]), p_address, p_request,
      coalesce(p_action, (array_remove(actions, 'search') || actions)[1]), case when is_bundle then actions end,
      v_types, v_ids, v_patients, nullif(p_searched, '{}'), case when made is not null then v_versions end);
end $$;
