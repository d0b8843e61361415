-- One step of finding out which resources are in which file of a bulk export. Each file of a type has at most
-- p_resources resources and p_bytes of content, but always the first resource. The step works for about p_ms
-- milliseconds. It finds nothing
--   - for an export that is complete, has expired, is of another key, or is locked by another step;
--   - before every transaction that is older than the export has ended: until then writes from before its moment may
--     still appear (bulk_export_begin). It then only notes when the export was requested.
--
-- If a type has at most p_few changed resources, or resources of the wanted patients, their ids are kept with the files.
-- Otherwise each page would have to search for them among many others.
--
-- The edge reads more resources of a type with filters than a file contains, so such a file has a fifth of p_resources.
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
  most integer;
  until timestamptz := clock_timestamp() + make_interval(secs => p_ms / 1000.0);
  e bulk_export;
  f bulk_export_file;
  c record;
  r record;
  few uuid[];
  ids uuid[];
  last uuid;
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
  if e.group_id is not null and e.patients is null then
    e.patients := group_members(p_site, e.group_id, e.snapshot_at);
    if e.since is not null then
      e.new_patients := array(
        select unnest(e.patients) except select unnest(group_members(p_site, e.group_id, e.since + interval '1 millisecond')));
    end if;
  end if;

  while e.type_number <= cardinality(e.types) and clock_timestamp() < until loop
    t := e.types[e.type_number];
    most := p_resources / case when exists (select from unnest(e.filters) x where starts_with(x, t || '?')) then 5 else 1 end;
    select x.* into f from bulk_export_file x
     where x.site_id = p_site and x.export_id = p_export and x.type = t order by x.number desc limit 1;
    few := null;
    if e.after_id <> nil then
      null;
    elsif e.patients is null then
      if e.since is not null then
        few := array(select c.id from resource c
                      where c.site_id = p_site and c.type = t and c.last_updated > e.since limit p_few + 1);
      end if;
    else
      -- A resource that has changed since may have been of another patient at the export's moment.
      few := array(
        select x.id from (
          select c.id from unnest(e.patients) p (id)
           cross join lateral (
             select r.id from resource r where r.site_id = p_site and r.patient_id = p.id and r.type = t limit p_few + 1) c
          union
          select p.id from unnest(e.patients) p (id) where t = 'Patient'
          union
          select c.id from resource c where c.site_id = p_site and c.type = t and c.last_updated >= e.snapshot_at) x
         limit p_few + 1);
    end if;
    if cardinality(few) > p_few then
      few := null;
    end if;
    select array_agg(x.id) as ids, array_agg(x.id) filter (where x.size is not null) as found, coalesce(sum(x.size), 0) as bytes
      into c
      from bulk_export_found(e, t, few, chunk) x;
    seen := coalesce(cardinality(c.ids), 0);
    if c.found is not null then
      if f.number is null or f.resources >= most then
        f := row(p_site, p_export, t, coalesce(f.number, 0) + 1, e.after_id, e.after_id, null, 0, 0);
      end if;
      if f.resources + cardinality(c.found) <= most and f.bytes + c.bytes <= p_bytes then
        f.resources := f.resources + cardinality(c.found);
        f.bytes := f.bytes + c.bytes;
        f.upto_id := c.found[cardinality(c.found)];
        f.ids := case when few is not null then c.found end;
      else
        -- Somewhere among these a file ends: they are looked at one by one.
        ids := '{}';
        last := e.after_id;
        for r in select x.id, x.size
                   from bulk_export_found(e, t, few, chunk) x loop
          if r.size is not null then
            if f.resources > 0 and (f.resources >= most or f.bytes + r.size > p_bytes) then
              f.ids := case when few is not null then ids end;
              perform bulk_export_file_write(f);
              f := row(p_site, p_export, t, f.number + 1, last, last, null, 0, 0);
              ids := '{}';
            end if;
            f.resources := f.resources + 1;
            f.bytes := f.bytes + r.size;
            f.upto_id := r.id;
            ids := ids || r.id;
          end if;
          last := r.id;
        end loop;
        f.ids := case when few is not null then ids end;
      end if;
      perform bulk_export_file_write(f);
    end if;
    if seen > 0 then
      e.after_id := c.ids[seen];
    end if;
    if few is not null or seen < chunk then
      e.type_number := e.type_number + 1;
      e.after_id := nil;
    end if;
  end loop;

  update bulk_export x
     set patients = e.patients, new_patients = e.new_patients, type_number = e.type_number, after_id = e.after_id, asked_at = clock_timestamp(),
         is_complete = e.type_number > cardinality(e.types)
   where x.site_id = p_site and x.export_id = p_export;
end $$;
