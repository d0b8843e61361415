-- Returns the subscriptions of each site for /metrics, [{ site, requested, active, error, off, events, seconds, accepted, failed }]
-- with p_limit sites at most. It covers all sites, so it has the owner's rights.
--   - requested, active, error, off: the number with this status; after its end a subscription is off.
--   - events, seconds: the events that are not delivered, and the age of the first of them; without those that are off.
--   - accepted, failed: posts, those of deleted subscriptions included.
create or replace function metrics_subscriptions(p_limit integer) returns json
language sql stable
security definer
set search_path = public, pg_temp
as $$
  with counted as (
    select s.site_id, s.accepted, s.failed, case when s.ends_at <= clock_timestamp() then 'off' else s.status end as status,
           s.last_event - s.delivered as events,
           case when s.delivered < s.last_event then subscription_waiting_since(s.site_id, s.subscription_id, s.delivered) end as since
      from subscription s
    union all
    select d.site_id, d.accepted, d.failed, null, 0, null from subscription_deleted d
  )
  select coalesce(json_agg(x), '[]')
    from (select c.site_id as site, count(*) filter (where c.status = 'requested') as requested,
                 count(*) filter (where c.status = 'active') as active, count(*) filter (where c.status = 'error') as error,
                 count(*) filter (where c.status = 'off') as off,
                 coalesce(sum(c.events) filter (where c.status <> 'off'), 0) as events,
                 greatest(coalesce(extract(epoch from clock_timestamp() - min(c.since) filter (where c.status <> 'off')), 0), 0) as seconds,
                 sum(c.accepted) as accepted, sum(c.failed) as failed
            from counted c group by c.site_id order by c.site_id limit p_limit) x
$$;
