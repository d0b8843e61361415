-- Decides whether the gateway must ask the OpenID provider again for a person's permissions. Only one of several
-- simultaneous requests asks, and it has a minute for it. Raises GW440 when the session has ended. outcome: ask (with
-- the refresh token), asking (another request is asking) or known (the provider was asked lately). The permissions are
-- the provider's last ones; asked_ago is the number of seconds since then.
create or replace function console_session_ask(p_site uuid, p_session uuid)
returns table (outcome text, refresh_token text, permissions text[], asked_ago integer)
language plpgsql as $$
#variable_conflict use_column
declare
  cur console_session;
begin
  perform set_config('gateway.site', p_site::text, true);
  select s.* into cur from console_session s where s.site_id = p_site and s.session_id = p_session for no key update;
  if not found or not console_session_is_live(cur) then
    raise exception 'the session has ended' using errcode = 'GW440';
  end if;
  outcome := case
    when cur.refresh_token is null or cur.asked_at > now() - interval '15 minutes' then 'known'
    when cur.asking_until > now() then 'asking'
    else 'ask' end;
  if outcome = 'ask' then
    update console_session s set asking_until = now() + interval '1 minute'
     where s.site_id = p_site and s.session_id = p_session;
  end if;
  return query select outcome, case when outcome = 'ask' then cur.refresh_token end, cur.permissions,
    extract(epoch from now() - cur.asked_at)::integer;
end $$;
