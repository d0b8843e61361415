-- True if a session may still be used (edge/docs/behaviour.md, Administration). A session ends after 8 hours, 30
-- minutes without a request, or an hour without an answer of the OpenID provider.
create or replace function console_session_is_live(s console_session) returns boolean language sql stable as $$
  select s.started_at > now() - interval '8 hours'
     and s.seen_at > now() - interval '30 minutes'
     and s.asked_at > now() - interval '1 hour'
$$;
