-- Revokes an access token. A token is remembered until it would have expired anyway.
-- It has the owner's rights: its callers cannot undo a revocation.
create or replace function token_revoke(p_site uuid, p_jti text, p_expires timestamptz) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into revoked_token (site_id, jti, expires_at) values (p_site, p_jti, p_expires) on conflict do nothing;
  delete from revoked_token t where (t.site_id, t.jti) in (
    select o.site_id, o.jti from revoked_token o where o.expires_at < now() - interval '5 minutes'
     order by o.expires_at limit 100 for update skip locked);
end $$;
