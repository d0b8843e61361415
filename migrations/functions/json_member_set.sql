-- A resource's body with another value for one member, which p_value is the JSON text of; what else stands there stays as
-- it was written. What FHIR says beside the member (_status) goes.
create or replace function json_member_set(p_body text, p_name text, p_value text) returns text
language sql immutable as $$
  select string_agg(to_json(m.key)::text || ':' || m.value, ',' order by m.n)
    from (
      select e.key, case e.key when p_name then p_value else e.value::text end as value, e.n
        from json_each(('{' || p_body || '}')::json) with ordinality e(key, value, n) where e.key <> '_' || p_name
      union all
      select p_name, p_value, 1000000
       where not exists (select from json_object_keys(('{' || p_body || '}')::json) k where k = p_name)) m
$$;
