-- Stores the connections that a sidecar reports (shared/mllp-contract.ts, connectionReport). The open records replace those of
-- an earlier report of the same process. A closed record replaces the one with its id, so a repeated report changes nothing.
--   - p_sites: the sites that the sidecar's key may speak for; null for all.
--   - p_records: [{ id, src, isTls, tls, openedAt, closedAt: milliseconds, reason, connections, owners: [{ site, clientId,
--     senders: texts }] }]. Owners are the keys that the connection's messages belong to.
--
-- A connection without a message belongs to the keys that received messages from its address, without the subject of its
-- certificate. From an unknown address it is dropped. Each key keeps the closed records of a day, 300 at most. The last record
-- of each address with a message stays for 36 days, as feeds do. If a process no longer reports, its open records were closed at
-- its last report.
--
-- A sidecar serves several sites, so the function has the owner's rights. It returns nothing.
create or replace function mllp_connections_note(p_sidecar text, p_run uuid, p_sites uuid[], p_records json)
returns void language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  insert into mllp_connection as c (site_id, client_id, connection_id, sidecar, run, source_address, is_tls, tls_subject,
      senders, has_sent, connections, opened_at, closed_at, reason, reported_at)
  with given as (
    select x.id, x.src, x."isTls" as is_tls, coalesce(x.tls, '') as tls, x.reason, x.connections, x.owners,
           least(to_timestamp(x."openedAt" / 1000.0), v_now) as opened_at,
           case when x."closedAt" is not null then least(to_timestamp(x."closedAt" / 1000.0), v_now) end as closed_at
      from json_to_recordset(p_records) as x(id uuid, src text, "isTls" boolean, tls text, "openedAt" bigint, "closedAt" bigint,
             reason text, connections integer, owners json)
  ), owned as (
    select g.*, o.site, o."clientId" as client, o.senders, true as has_sent
      from given g cross join lateral json_to_recordset(g.owners) as o(site uuid, "clientId" text, senders text[])
    union all
    select g.*, known.site_id, known.client_id, '{}', false
      from given g
     cross join lateral (
       select distinct n.site_id, n.client_id from mllp_connection n
        where n.source_address = g.src and n.sidecar = p_sidecar and n.has_sent order by 1, 2 limit 20) known
     where json_array_length(g.owners) = 0
  )
  select k.site_id, k.client_id, o.id, p_sidecar, p_run, o.src, o.is_tls, case when o.has_sent then o.tls else '' end, o.senders,
         o.has_sent, o.connections, o.opened_at, o.closed_at, o.reason, v_now
    from owned o join api_key k on k.site_id = o.site and k.client_id = o.client
   where p_sites is null or k.site_id = any (p_sites)
   order by 1, 2, 3
  on conflict (site_id, client_id, connection_id) do update
    set connections = excluded.connections, opened_at = excluded.opened_at, closed_at = excluded.closed_at,
        reason = excluded.reason, senders = excluded.senders, has_sent = excluded.has_sent,
        tls_subject = excluded.tls_subject, reported_at = excluded.reported_at
   where c.sidecar = p_sidecar and c.run = p_run;

  delete from mllp_connection c
   where c.sidecar = p_sidecar and c.closed_at is null and c.run = p_run and c.reported_at < v_now;
  update mllp_connection c set closed_at = c.reported_at, reason = 'sidecar-stopped'
   where c.sidecar = p_sidecar and c.closed_at is null and c.run <> p_run and c.reported_at < v_now - interval '3 minutes';

  delete from mllp_connection c
   where c.sidecar = p_sidecar and c.closed_at < v_now - interval '24 hours'
     and (not c.has_sent or c.closed_at < v_now - interval '36 days'
          or exists (select from mllp_connection n
                      where n.site_id = c.site_id and n.client_id = c.client_id and n.source_address = c.source_address
                        and n.has_sent and (n.closed_at is null or n.closed_at > c.closed_at)));
  delete from mllp_connection c where (c.site_id, c.client_id, c.connection_id) in (
    select n.site_id, n.client_id, n.connection_id
      from (select distinct t.site_id, t.client_id from mllp_connection t
             where t.sidecar = p_sidecar and t.reported_at = v_now and t.closed_at is not null) touched
     cross join lateral (
       select o.* from mllp_connection o
        where o.site_id = touched.site_id and o.client_id = touched.client_id and o.closed_at is not null
        order by o.closed_at desc offset 300) n);
end $$;
