-- Notes the person of a session that begins at a site. Each call deletes some persons who have not signed in there for 400 days.
create or replace function console_person_note(p_site uuid, p_session uuid) returns void language sql as $$
  delete from console_person p where (p.site_id, p.subject) in (
    select o.site_id, o.subject from console_person o
     where o.site_id = p_site and o.last_seen < now() - interval '400 days' order by o.last_seen limit 100);
  insert into console_person as p (site_id, subject, name, permissions)
    select s.site_id, s.subject, s.name, s.permissions from console_session s
     where s.site_id = p_site and s.session_id = p_session
    on conflict (site_id, subject) do update
      set name = excluded.name, permissions = excluded.permissions, last_seen = now()
$$;
