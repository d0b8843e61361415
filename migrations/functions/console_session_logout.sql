-- Ends the sessions that a logout token of the OpenID provider names (OpenID Connect Back-Channel Logout 1.0 §2.7).
-- These are the sessions of one session at the provider, or all of a subject, in every site. A token counts once, as
-- long as its claim is stored. The claim and the end of the sessions are one transaction, so that a token that failed
-- may be sent again. The function covers several sites, so it runs with the rights of its owner. Returns the number of
-- sessions that ended; null for a token that was used before.
create or replace function console_session_logout(p_jti_hash text, p_expires timestamptz, p_subject text,
  p_provider_session text) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  ended integer;
begin
  if not jti_claim_add('console logout', p_jti_hash, gen_random_uuid()::text, p_expires) then
    return null;
  end if;
  with signed_out as (
    delete from console_session s
     where (p_provider_session is null or s.provider_session = p_provider_session)
       and (p_subject is null or s.subject = p_subject)
       and coalesce(p_provider_session, p_subject) is not null
    returning s.site_id, s.session_id, s.subject
  )
  -- The sessions are of several sites, so the audit rows are written here.
  insert into audit (site_id, actor_kind, actor, request_id, action, types, ids, patients)
    select s.site_id, 'person', s.subject, 'back-channel-logout', 'signed-out', '{ConsoleSession}',
           array[s.session_id], '{}'
      from signed_out s;
  get diagnostics ended = row_count;
  return ended;
end $$;
