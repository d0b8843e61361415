-- Writes the audit row of a request of an API key that showed resources of one type. audit_write
-- reads the same facts from items. To note and read an item would cost an eighth of a read.
-- - p_ids, p_patients: the ids of the resources and of their patients, in one order; null without resources.
-- - p_searched: the names of a search's parameters; null: no search.
create or replace function audit_shown(p_site uuid, p_client text, p_address text, p_request text, p_action text, p_type text,
  p_ids uuid[], p_patients uuid[], p_searched text[]) returns void language plpgsql as $$
declare
  v_patients uuid[] := case when p_type = 'Patient' then p_ids else array_remove(p_patients, null) end;
begin
  if cardinality(v_patients) > 1 and p_type <> 'Patient' then
    v_patients := array(select distinct a from unnest(v_patients) a order by a);
  end if;
  insert into audit (site_id, actor_kind, client_id, address, request_id, action, types, ids, patients, parameters)
    values (p_site, 'key', p_client, p_address, p_request, p_action,
      array_fill(p_type, array[coalesce(cardinality(p_ids), 0)]), coalesce(p_ids, '{}'), coalesce(v_patients, '{}'),
      nullif(p_searched, '{}'));
end $$;
