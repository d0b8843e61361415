-- What the token service writes: refusals, revocations and, where there are no Durable Objects, claims of a jti. All
-- three forget by themselves, a few rows with each write, so that no flood and no silence can fill a table.

create index refusal_age on refusal (at);
create index revoked_token_expiry on revoked_token (expires_at);

-- Keeps why a request of a key was refused: the newest 500 of each key, 90 days. Nothing is kept for an unknown client.
create function refusal_add(p_client text, p_id uuid, p_surface text, p_request text, p_address text, p_code text,
  p_reason text) returns void language plpgsql as $$
declare
  v_site uuid;
  v_oldest uuid;
begin
  insert into refusal (site_id, refusal_id, client_id, surface, request_id, source_address, code, reason)
    select k.site_id, p_id, k.client_id, p_surface, p_request, p_address, p_code, p_reason
      from api_key k where k.client_id = p_client
    returning site_id into v_site;
  if v_site is null then
    return;
  end if;
  select r.refusal_id into v_oldest from refusal r
   where r.site_id = v_site and r.client_id = p_client
   order by r.refusal_id desc offset 500 limit 1;
  if found then
    delete from refusal r where r.site_id = v_site and r.client_id = p_client and r.refusal_id <= v_oldest;
  end if;
  delete from refusal r where (r.site_id, r.refusal_id) in (
    select o.site_id, o.refusal_id from refusal o where o.at < now() - interval '90 days'
     order by o.at limit 100 for update skip locked);
end $$;

-- Revokes an access token. A token is remembered until it would have expired anyway.
create function token_revoke(p_site uuid, p_jti text, p_expires timestamptz) returns void language plpgsql as $$
begin
  insert into revoked_token (site_id, jti, expires_at) values (p_site, p_jti, p_expires) on conflict do nothing;
  delete from revoked_token t where (t.site_id, t.jti) in (
    select o.site_id, o.jti from revoked_token o where o.expires_at < now() - interval '5 minutes'
     order by o.expires_at limit 100 for update skip locked);
end $$;

-- Claims a jti: true for the first attempt and for the same attempt again, false for every other.
create function jti_claim_add(p_client text, p_hash text, p_attempt text, p_expires timestamptz) returns boolean
language plpgsql as $$
begin
  delete from jti_claim c where (c.client_id, c.jti_hash) in (
    select o.client_id, o.jti_hash from jti_claim o where o.expires_at < now()
     order by o.expires_at limit 10 for update skip locked);
  insert into jti_claim (client_id, jti_hash, attempt, expires_at) values (p_client, p_hash, p_attempt, p_expires)
    on conflict do nothing;
  return found or exists (
    select from jti_claim c where c.client_id = p_client and c.jti_hash = p_hash and c.attempt = p_attempt);
end $$;
