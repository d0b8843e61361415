-- The first statement of every request with a session of the console: from here on the batch is about the session's
-- site. Raises GW440 when the session has ended, which rolls back the complete batch. A copy of a cookie is therefore
-- useless at the next request, without a second round trip.
create or replace function assert_session(p_site uuid, p_session uuid) returns void language plpgsql as $$
begin
  perform assert_session_lasts(p_site, p_session);
  -- Written once a minute. This does not wait for another request of the same session that writes it at the same time:
  -- a long request delays no other.
  update console_session t set seen_at = now()
   where (t.site_id, t.session_id) in (
     select s.site_id, s.session_id from console_session s
      where s.site_id = p_site and s.session_id = p_session and s.seen_at < now() - interval '1 minute'
        for update skip locked);
end $$;
