-- The patients of a Group as it was just before p_at. These are the members that were not inactive, and the patients into which the
-- members had been merged by then.
create or replace function group_members(p_site uuid, p_group uuid, p_at timestamptz) returns uuid[]
language sql stable as $$
  with recursive member(id) as (
    select substring(m -> 'entity' ->> 'reference' from '^Patient/([0-9a-f-]{36})')::uuid
      from resource c
     cross join lateral resource_version_at(p_site, c.type, c.id, c.version, c.last_updated, c.meta, c.body, c.patient_id, p_at) v
     cross join lateral json_array_elements(('{' || v.body || '}')::json -> 'member') m
     where c.site_id = p_site and c.type = 'Group' and c.id = p_group and (m ->> 'inactive') is distinct from 'true'
    union
    select patient_replaced_by(v.body)
      from member
      join resource c on c.site_id = p_site and c.type = 'Patient' and c.id = member.id
     cross join lateral resource_version_at(p_site, c.type, c.id, c.version, c.last_updated, c.meta, c.body, c.patient_id, p_at) v
     where v.body like '%"replaced-by"%')
  select coalesce(array_agg(member.id), '{}') from member where member.id is not null
$$;
