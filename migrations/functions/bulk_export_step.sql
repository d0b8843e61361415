-- One step of finding out which resources are in which file of a bulk export; of a type each file has p_resources of them
-- and p_bytes of content at most, the first one in any case. It works for p_ms milliseconds or so. Nothing happens
--   - to an export that is complete, has expired, is of another key, or is worked at by somebody else;
--   - before every transaction that is older than the export has ended: until then what was written before its moment may
--     still appear (bulk_export_begin).
-- With p_few changed resources of a type or less, their ids are kept with the files: among many others each page would
-- have to look for them again.
create or replace function bulk_export_step(p_site uuid, p_client text, p_export uuid, p_resources integer, p_bytes bigint,
  p_few integer, p_ms integer)
returns void language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- Resources that are looked at in one statement.
  chunk constant integer := 20000;
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  until timestamptz := clock_timestamp() + make_interval(secs => p_ms / 1000.0);
  e bulk_export;
  f bulk_export_file;
  r record;
  source refcursor;
  few uuid[];
  ids uuid[];
  seen integer;
  t text;
begin
  select x.* into e from bulk_export x
   where x.site_id = p_site and x.export_id = p_export and x.client_id = p_client and not x.is_complete
     and x.expires_at > clock_timestamp()
     for update skip locked;
  if not found then
    return;
  end if;
  if pg_snapshot_xmin(pg_current_snapshot())::text::bigint < e.begun_by then
    update bulk_export x set asked_at = clock_timestamp() where x.site_id = p_site and x.export_id = p_export;
    return;
  end if;

  while e.type_number <= cardinality(e.types) and clock_timestamp() < until loop
    t := e.types[e.type_number];
    select x.* into f from bulk_export_file x
     where x.site_id = p_site and x.export_id = p_export and x.type = t order by x.number desc limit 1;
    few := null;
    ids := null;
    if e.since is not null and e.after_id = nil then
      few := array(select c.id from resource c
                    where c.site_id = p_site and c.type = t and c.last_updated > e.since limit p_few + 1);
      if cardinality(few) > p_few then
        few := null;
      end if;
    end if;
    if few is not null then
      open source for
        select c.id, octet_length(v.body) + octet_length(v.meta) as size
          from unnest(few) i(id)
          join resource c on c.site_id = p_site and c.type = t and c.id = i.id
         cross join lateral resource_version_at(p_site, t, c.id, c.version, c.last_updated, c.meta, c.body,
                 c.patient_id, e.taken_at) v
         where v.last_updated > e.since and (not e.of_patients or t = 'Patient' or v.patient_id is not null)
         order by c.id;
    else
      open source for
        select c.id, case when (e.since is null or v.last_updated > e.since)
                           and (not e.of_patients or t = 'Patient' or v.patient_id is not null)
                          then octet_length(v.body) + octet_length(v.meta) end as size
          from resource c
          left join lateral resource_version_at(p_site, t, c.id, c.version, c.last_updated, c.meta, c.body,
                 c.patient_id, e.taken_at) v on true
         where c.site_id = p_site and c.type = t and c.id > e.after_id
         order by c.id limit chunk;
    end if;
    seen := 0;
    loop
      fetch source into r;
      exit when not found;
      seen := seen + 1;
      if r.size is not null then
        if f.number is null or f.resources >= p_resources or f.bytes + r.size > p_bytes then
          f.ids := ids;
          perform bulk_export_file_write(f);
          f := row(p_site, p_export, t, coalesce(f.number, 0) + 1, e.after_id, e.after_id, null, 0, 0);
          ids := case when few is not null then array[]::uuid[] end;
        end if;
        f.resources := f.resources + 1;
        f.bytes := f.bytes + r.size;
        f.upto_id := r.id;
        if few is not null then
          ids := ids || r.id;
        end if;
      end if;
      e.after_id := r.id;
    end loop;
    close source;
    f.ids := ids;
    perform bulk_export_file_write(f);
    if few is not null or seen < chunk then
      e.type_number := e.type_number + 1;
      e.after_id := nil;
    end if;
  end loop;

  update bulk_export x
     set type_number = e.type_number, after_id = e.after_id, asked_at = clock_timestamp(),
         is_complete = e.type_number > cardinality(e.types)
   where x.site_id = p_site and x.export_id = p_export;
end $$;
