-- Keeps which names without a URI a message has: p_rows is [{ kind, name }], the name in capitals, none twice. What the
-- message had when it was processed before is forgotten.
create or replace function unnamed_name_write(p_site uuid, p_message uuid, p_rows json) returns void
language plpgsql as $$
begin
  delete from unnamed_name u where u.site_id = p_site and u.message_id = p_message;
  insert into unnamed_name (site_id, kind, name, message_id)
    select p_site, x.kind, x.name, p_message
      from json_to_recordset(coalesce(p_rows, '[]')) as x(kind text, name text)
     where x.name <> '';
end $$;
