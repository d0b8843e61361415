-- Begins a session, and deletes some of the site's sessions that have ended. Returns the name and the time zone of the site (UTC if
-- it has no zone); no row if there is no such site.
create or replace function console_session_begin(p_site uuid, p_session uuid, p_subject text, p_name text,
  p_provider_session text, p_source_address text, p_user_agent text, p_permissions text[], p_refresh_token text,
  p_id_token text) returns table (site_name text, time_zone text)
language plpgsql as $$
begin
  perform set_config('gateway.site', p_site::text, true);
  delete from console_session t where (t.site_id, t.session_id) in (
    select s.site_id, s.session_id from console_session s
     where s.site_id = p_site and not console_session_is_live(s) limit 100 for update skip locked);
  insert into console_session (site_id, session_id, subject, name, provider_session, source_address, user_agent,
      permissions, refresh_token, id_token)
    select s.site_id, p_session, p_subject, p_name, p_provider_session, p_source_address, p_user_agent, p_permissions,
        p_refresh_token, p_id_token
      from site s where s.site_id = p_site;
  if found then
    perform audit_note(array[row('signed-in', 'ConsoleSession', p_session, null)::audit_item]);
    perform console_person_note(p_site, p_session);
  end if;
  return query select s.name, coalesce(s.time_zone, 'UTC') from site s where s.site_id = p_site;
end $$;
