-- Moves a session to another of the sites that the provider granted. The audit records that the person signed out of
-- the old site and signed in to the new site. Returns no row if the session has no access to the new site, or the
-- gateway does not know it. They are two sites, so it runs with the rights of its owner.
create or replace function console_session_to_site(p_site uuid, p_session uuid, p_to uuid, p_request_id text)
returns table (site_name text, time_zone text, permissions text[])
language plpgsql
security definer
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  cur console_session;
begin
  update console_session s
     set site_id = t.site_id, permissions = array(select jsonb_array_elements_text(s.grants -> t.site_id::text))
    from site t
   where s.site_id = p_site and s.session_id = p_session and console_session_is_live(s)
     and t.site_id = p_to and s.grants ? t.site_id::text
  returning s.* into cur;
  if not found then
    return;
  end if;
  insert into audit (site_id, actor_kind, actor, address, request_id, action, types, ids, patients)
    select x.site, 'person', cur.subject, cur.source_address, p_request_id, x.action, '{ConsoleSession}',
           array[p_session], '{}'
      from (values (p_site, 'signed-out'), (p_to, 'signed-in')) x (site, action)
     where p_site <> p_to;
  perform console_person_note(p_to, p_session);
  return query select t.name, coalesce(t.time_zone, 'UTC'), cur.permissions from site t where t.site_id = p_to;
end $$;
