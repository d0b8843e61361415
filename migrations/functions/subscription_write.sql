-- Creates a subscription of an API key, or changes one.
--   - p_record { type, filter, payload, endpoint, host, headers, reason, heartbeatSeconds, maxCount, endsAt, status, ifVersions }.
--     Without headers, an update keeps those of the same host. ifVersions: the versions that may be changed; null: any.
--   - p_since: of a new subscription, as subscription.since.
-- The column outcome is created, updated, or why nothing was written:
--   - host: the key's subscription hosts do not have the host.
--   - many: the key has p_limit subscriptions.
--   - since: the change feed of the site began later than p_since.
--   - missing: the key has no subscription with this id.
--   - version: the subscription has another version than ifVersions.
--   - other: the subscription has another type or filter.
create or replace function subscription_write(p_site uuid, p_client text, p_id uuid, p_is_new boolean, p_record json, p_since timestamptz,
  p_limit integer) returns table (outcome text) language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  s subscription;
  settled bigint;
  position bigint;
begin
  select x.* into r from json_to_record(p_record) as x(type text, filter text, payload text, endpoint text, host text, headers text, reason text,
    "heartbeatSeconds" integer, "maxCount" integer, "endsAt" timestamptz, status text,
    "ifVersions" integer[]);
  if not exists (select from api_key k where k.site_id = p_site and k.client_id = p_client and r.host = any (k.subscription_hosts)) then
    return query select 'host';
    return;
  end if;
  if p_is_new then
    perform lock_keys(p_site, array['subscriptions|' || p_client]);
    if (select count(*) from subscription x where x.site_id = p_site and x.client_id = p_client) >= p_limit then
      return query select 'many';
      return;
    end if;
    -- As change_ask.
    settled := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    insert into change_position (site_id, started_at, below, reached)
      select p_site, x.at, settled, x.at
        from (select date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' as at) x
      on conflict do nothing;
    if p_since is null then
      select c.last_number into position from change_position c where c.site_id = p_site;
    else
      position := change_since(p_site, p_since);
    end if;
    if position is null then
      return query select 'since';
      return;
    end if;
    insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, headers, reason, heartbeat_seconds,
        max_count, ends_at, since, status, matched)
      values (p_site, p_id, p_client, r.type, r.filter, r.payload, r.endpoint, r.host, r.headers, r.reason, r."heartbeatSeconds",
        r."maxCount", r."endsAt", p_since, r.status, position);
    perform audit_note(array[row('create', 'Subscription', p_id, null)::audit_item]);
    return query select 'created';
    return;
  end if;
  select x.* into s from subscription x
   where x.site_id = p_site and x.subscription_id = p_id and x.client_id = p_client for no key update;
  if not found then
    return query select 'missing';
    return;
  end if;
  if s.version <> all (r."ifVersions") then
    return query select 'version';
    return;
  end if;
  if (s.type, s.filter) <> (r.type, r.filter) then
    return query select 'other';
    return;
  end if;
  -- The result of a post under way is not stored. The next one waits until that one has ended, as in subscription_switch.
  update subscription x
     set payload = r.payload, endpoint = r.endpoint, host = r.host,
         headers = coalesce(r.headers, case when x.host = r.host then x.headers end), reason = r.reason, heartbeat_seconds = r."heartbeatSeconds",
         max_count = r."maxCount", ends_at = r."endsAt", status = r.status, attempts = 0, failing_since = null,
         next_at = clock_timestamp(), restarted_at = clock_timestamp(), lease = null,
         lease_until = case when x.lease_until > clock_timestamp()
           then least(x.lease_until, clock_timestamp() + interval '10 seconds') end,
         version = x.version + 1, updated_at = clock_timestamp()
   where x.site_id = p_site and x.subscription_id = p_id;
  perform audit_note(array[row('update', 'Subscription', p_id, null)::audit_item]);
  return query select 'updated';
end $$;
