-- Claims a jti: true for the first attempt and for the same attempt again, false for every other.
-- It has the owner's rights: its callers can neither read the claims nor delete a claim.
create or replace function jti_claim_add(p_client text, p_hash text, p_attempt text, p_expires timestamptz)
returns boolean language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  delete from jti_claim c where (c.client_id, c.jti_hash) in (
    select o.client_id, o.jti_hash from jti_claim o where o.expires_at < now()
     order by o.expires_at limit 10 for update skip locked);
  insert into jti_claim (client_id, jti_hash, attempt, expires_at) values (p_client, p_hash, p_attempt, p_expires)
    on conflict do nothing;
  return found or exists (
    select from jti_claim c where c.client_id = p_client and c.jti_hash = p_hash and c.attempt = p_attempt);
end $$;
