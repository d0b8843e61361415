-- Claims the subscriptions of a site that have something to post, the longest due first. No other runner claims them until their
-- lease ends or subscription_tried releases them.
create or replace function subscription_claim(p_site uuid, p_lease uuid, p_seconds integer, p_limit integer)
returns table (subscription_id uuid, client_id text, type text, endpoint text, host text, max_count integer, status text,
  last_event bigint, delivered bigint, headers text)
language sql as $$
  -- Not a condition with `in`: its subquery may run more than once, and would then claim more than p_limit.
  with due as materialized (
    select d.subscription_id from subscription d
     where d.site_id = p_site and d.status in ('requested', 'active') and d.next_at <= clock_timestamp()
       and (d.lease_until is null or d.lease_until <= clock_timestamp())
       and (d.ends_at is null or d.ends_at > clock_timestamp())
       and (d.status = 'requested' or d.delivered < d.last_event
         or d.tried_at + make_interval(secs => d.heartbeat_seconds) <= clock_timestamp())
     order by d.next_at, d.subscription_id limit p_limit for update skip locked)
  update subscription s
     set lease = p_lease, lease_until = clock_timestamp() + make_interval(secs => p_seconds)
    from due
   where s.site_id = p_site and s.subscription_id = due.subscription_id
  returning s.subscription_id, s.client_id, s.type, s.endpoint, s.host, s.max_count, s.status, s.last_event, s.delivered, s.headers
$$;
