-- The first statement of every request with a link of an API key: from here on the batch is about the site of the link. Raises
-- GW402 when the link is not one of the key, has expired or was revoked, or the key is not active. That rolls back the complete
-- batch.
--   - p_secret: the SHA-256 of the secret, base64url.
create or replace function assert_key_link(p_site uuid, p_client text, p_link uuid, p_secret text) returns void
language plpgsql as $$
declare
  site uuid := nullif(set_config('gateway.site', p_site::text, true), '');
begin
  if not exists (
    select from key_link l join api_key k on k.site_id = l.site_id and k.client_id = l.client_id
     where l.site_id = site and l.link_id = p_link and l.client_id = p_client and l.secret_sha256 = p_secret
       and l.revoked_at is null and l.expires_at > now() and k.status = 'active'
  ) then
    raise exception 'the link has expired, was revoked, or its API key is not active' using errcode = 'GW402';
  end if;
end $$;
