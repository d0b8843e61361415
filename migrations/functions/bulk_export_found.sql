-- Returns the next resources of a type for an export, by id: the first p_limit resources after p_after, or, if p_few is
-- given, these. The size is that of the content as it was at p_at. It is null for a resource that is in no file
-- (bulk_export_step). Such a resource did not exist, had not changed after p_since, or is of no patient
-- although only patients' resources are wanted. Or it is not of p_patients.
create or replace function bulk_export_found(p_site uuid, p_type text, p_after uuid, p_few uuid[], p_at timestamptz,
  p_since timestamptz, p_of_patients boolean, p_patients uuid[], p_limit integer)
returns table (id uuid, size integer) language plpgsql as $$
#variable_conflict use_column
begin
  if p_few is not null then
    return query
      select c.id, case when (p_since is null or v.last_updated > p_since)
                         and (not p_of_patients or p_type = 'Patient' or v.patient_id is not null)
                         and (p_patients is null or case p_type when 'Patient' then c.id else v.patient_id end = any (p_patients))
                        then document_bytes(v.body) + octet_length(v.meta) end
        from unnest(p_few) i(id)
        join resource c on c.site_id = p_site and c.type = p_type and c.id = i.id
        left join lateral resource_version_at(p_site, p_type, c.id, c.version, c.last_updated, c.meta, c.body,
               c.patient_id, p_at) v on true
       order by c.id;
  else
    return query
      select c.id, case when (p_since is null or v.last_updated > p_since)
                         and (not p_of_patients or p_type = 'Patient' or v.patient_id is not null)
                         and (p_patients is null or case p_type when 'Patient' then c.id else v.patient_id end = any (p_patients))
                        then document_bytes(v.body) + octet_length(v.meta) end
        from resource c
        left join lateral resource_version_at(p_site, p_type, c.id, c.version, c.last_updated, c.meta, c.body,
               c.patient_id, p_at) v on true
       where c.site_id = p_site and c.type = p_type and c.id > p_after
       order by c.id limit p_limit;
  end if;
end $$;
