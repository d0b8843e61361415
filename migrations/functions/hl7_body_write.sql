-- Another version of a resource that a message changes in the database alone: p_body is its new text, of which nothing is
-- different that is searched, save a report's state, which the caller sees to.
create or replace function hl7_body_write(p_site uuid, p_message uuid, p_type text, p_id uuid, p_body text) returns void
language plpgsql as $$
begin
  perform audit_note(array(
    select concat_ws(' ', 'update', r.type, r.id, r.patient_id)
      from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id));
  insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id)
    select r.site_id, r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id
      from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id;
  update resource r
     set version = r.version + 1, body = p_body,
         last_updated = greatest(write_time(), r.last_updated)
   where r.site_id = p_site and r.type = p_type and r.id = p_id;
  insert into hl7_message_resource (site_id, message_id, type, id, version, is_written)
    select r.site_id, p_message, r.type, r.id, r.version, true
      from resource r where r.site_id = p_site and r.type = p_type and r.id = p_id;
end $$;
