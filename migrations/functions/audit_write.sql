-- Writes the one row of an access; nothing where nothing was noted and nothing was searched: then no data was reached.
--   p_actor_kind, p_actor, p_client, p_address, p_request: as the columns of audit
--   p_action: null for what was noted, which is then of one kind; beside another kind, a search is the condition of it
--   p_searched: names of the parameters of a search, which counts also where it found nothing; null for none
--   p_noted: the lines that audit_note was given; null for none
-- Without settings, which cost as much as the rest: the plans of its inserts are kept without them.
create or replace function audit_write(p_site uuid, p_actor_kind text, p_actor text, p_client text, p_address text,
  p_request text, p_action text, p_searched text[], p_noted text) returns void language plpgsql as $$
declare
  word text[] := string_to_array(p_noted, ' ');
  actions text[];
  things text[];
  thing text;
  v_types text[] := '{}';
  v_ids uuid[] := '{}';
  v_patients uuid[];
  made text;
begin
  if p_noted is null and p_searched is null then
    return;
  end if;
  if strpos(p_noted, E'\n') = 0 is not false and (p_action in ('batch', 'transaction')) is not true
     and (word is null or word[2] <> 'ApiKey' and (word[2] <> 'Patient' or word[4] is null)) then
    -- Most are of one resource, or of none: nothing is to be put in order.
    insert into audit (site_id, actor_kind, actor, client_id, address, request_id, action, parts, types, ids, patients,
        parameters)
      values (p_site, p_actor_kind, p_actor, p_client, p_address, p_request,
        coalesce(p_action, word[1], 'search'), '{}',
        coalesce(word[2:2], '{}'), coalesce(word[3:3]::uuid[], '{}'),
        coalesce(case when word[2] = 'Patient' then word[3:3] else word[4:4] end::uuid[], '{}'),
        coalesce(p_searched, '{}'));
    return;
  end if;

  -- Each once, in order. A line concerns the patient that it names, and the one that it is about.
  select array_agg(distinct split_part(l, ' ', 1)),
         array_agg(distinct split_part(l, ' ', 2) || ' ' || split_part(l, ' ', 3)) filter (where l like '% %'),
         array_agg(distinct p.id::uuid) filter (where p.id <> ''),
         -- The API key that was made or changed.
         max('svc-' || split_part(l, ' ', 3)) filter (where split_part(l, ' ', 2) = 'ApiKey')
    into actions, things, v_patients, made
    from string_to_table(concat_ws(E'\n', p_noted, case when p_searched is not null then 'search' end), E'\n') l
   cross join lateral (
     values (split_part(l, ' ', 4)), (case when split_part(l, ' ', 2) = 'Patient' then split_part(l, ' ', 3) end)) p(id);
  foreach thing in array coalesce(things, '{}') loop
    v_types := v_types || split_part(thing, ' ', 1);
    v_ids := v_ids || split_part(thing, ' ', 2)::uuid;
  end loop;
  insert into audit (site_id, actor_kind, actor, client_id, address, request_id, action, parts, types, ids, patients,
      parameters)
    values (p_site, p_actor_kind, p_actor, coalesce(p_client, made), p_address, p_request,
      coalesce(p_action, (array_remove(actions, 'search') || actions)[1]),
      case when p_action in ('batch', 'transaction') then actions else '{}' end, v_types, v_ids,
      coalesce(v_patients, '{}'), coalesce(p_searched, '{}'));
end $$;
