-- Notes the public keys with which clients have signed (edge/store/usage.ts): p_kids [{ site, clientId, kid, at:
-- milliseconds }], without duplicates. One process notes for several sites, so the function has the owner's rights.
-- Rows of deleted keys are dropped. A row changes once a minute at most, even if its client is busy and several
-- processes serve it. Each client keeps the forty kids that were used last: a JWKS has twenty keys.
create or replace function key_kids_note(p_kids json) returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  with given as (
    select k.site_id, k.client_id, x.kid, least(to_timestamp(x.at / 1000.0), clock_timestamp()) as at
      from json_to_recordset(p_kids) as x(site uuid, "clientId" text, kid text, at bigint)
      join api_key k on k.site_id = x.site and k.client_id = x."clientId"
  )
  insert into key_kid as f (site_id, client_id, kid, first_at, last_at)
    select site_id, client_id, kid, min(at), max(at) from given group by 1, 2, 3 order by 1, 2, 3
    on conflict (site_id, client_id, kid) do update set last_at = excluded.last_at
      where excluded.last_at > f.last_at + interval '1 minute';

  delete from key_kid f
   where (f.site_id, f.client_id, f.kid) in (
     select o.site_id, o.client_id, o.kid
       from (select k.*, row_number() over (partition by k.site_id, k.client_id order by k.last_at desc, k.kid) as n
               from key_kid k
               join (select distinct x.site, x."clientId" from json_to_recordset(p_kids) as x(site uuid, "clientId" text)) g
                 on k.site_id = g.site and k.client_id = g."clientId") o
      where o.n > 40);
end $$;
