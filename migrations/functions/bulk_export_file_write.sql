-- Stores the data of a file of a bulk export (bulk_export_step), new or grown; a null is ignored.
create or replace function bulk_export_file_write(p_file bulk_export_file) returns void language plpgsql as $$
begin
  if p_file.number is null then
    return;
  end if;
  insert into bulk_export_file (site_id, export_id, type, number, after_id, upto_id, ids, resources, bytes)
    values (p_file.site_id, p_file.export_id, p_file.type, p_file.number, p_file.after_id, p_file.upto_id, p_file.ids,
      p_file.resources, p_file.bytes)
    on conflict (site_id, export_id, type, number) do update
      set upto_id = excluded.upto_id, resources = excluded.resources, bytes = excluded.bytes;
end $$;
