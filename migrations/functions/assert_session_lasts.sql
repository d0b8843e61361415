-- Works as assert_session, for the requests that a page sends automatically. It asserts the session but does not count
-- as use. Otherwise a page that refreshes itself would keep an abandoned session alive.
create or replace function assert_session_lasts(p_site uuid, p_session uuid) returns void language plpgsql as $$
begin
  perform set_config('gateway.site', p_site::text, true);
  if not exists (select from console_session s
                  where s.site_id = p_site and s.session_id = p_session and console_session_is_live(s)) then
    raise exception 'the session has ended' using errcode = 'GW440';
  end if;
end $$;
