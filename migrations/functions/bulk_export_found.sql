-- Returns the next resources of a type for an export, by id: the first p_limit resources after e.after_id, or, if p_few is
-- given, these. The size is that of the content as it was at e.snapshot_at. It is null for a resource that is in no file
-- (bulk_export_step). Such a resource did not exist, or had not changed after e.since and is of no new member. Or it is of no
-- patient although only patients' resources are wanted, or it is not of e.patients.
create or replace function bulk_export_found(e bulk_export, p_type text, p_few uuid[], p_limit integer)
returns table (id uuid, size integer) language plpgsql as $$
#variable_conflict use_column
begin
  return query
    select c.id, case when (e.since is null or v.last_updated > e.since
                            or case p_type when 'Patient' then c.id else v.patient_id end in (select unnest(e.new_patients)))
                       and (not e.of_patients or p_type = 'Patient' or v.patient_id is not null)
                       and (e.patients is null
                            or case p_type when 'Patient' then c.id else v.patient_id end in (select unnest(e.patients)))
                      then document_bytes(v.body) + octet_length(v.meta) end
      from (
        select x.* from unnest(p_few) i(id) join resource x on x.site_id = e.site_id and x.type = p_type and x.id = i.id
        union all
        (select x.* from resource x
          where p_few is null and x.site_id = e.site_id and x.type = p_type and x.id > e.after_id
          order by x.id limit p_limit)) c
      left join lateral resource_version_at(e.site_id, p_type, c.id, c.version, c.last_updated, c.meta, c.body,
             c.patient_id, e.snapshot_at) v on true
     order by c.id;
end $$;
