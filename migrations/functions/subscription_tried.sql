-- Stores the result of a post. p_upto is the last event that the receiver has, after an accepted post. It is null if the post was
-- not accepted, or was a handshake. A subscription that was paused and resumed during a post stays requested, and gets a handshake
-- next. A failed post is repeated after 10 s, then after twice the time each, an hour at most. After three days, or for the answer
-- 410, the status is error. A subscription that was paused meanwhile, or got the status error, keeps its status. For p_answer key,
-- scope, host or off (subscription_refusal) nothing was posted. The lease ends if the post failed or no event is left. Returns no
-- row if the lease was lost: then nothing is stored.
create or replace function subscription_tried(p_site uuid, p_id uuid, p_lease uuid, p_upto bigint, p_answer text, p_is_delivered boolean)
returns table (status text, last_event bigint, is_released boolean) language plpgsql as $$
#variable_conflict use_column
declare
  s subscription;
  is_on boolean;
  needs_handshake boolean;
  has_more boolean;
  quarter timestamptz := date_bin('15 minutes', clock_timestamp(), 'epoch');
begin
  select x.* into s from subscription x
   where x.site_id = p_site and x.subscription_id = p_id and x.lease = p_lease for no key update;
  if not found then
    return;
  end if;
  is_on := s.status in ('requested', 'active');
  needs_handshake := s.status = 'requested' and p_upto is not null;
  has_more := is_on and p_is_delivered and (needs_handshake or coalesce(p_upto, s.delivered) < s.last_event);
  return query update subscription x
     set delivered = greatest(s.delivered, coalesce(p_upto, s.delivered)),
         last_answer = case when s.status = 'error' or p_answer = 'off' then s.last_answer else p_answer end,
         tried_at = case when p_answer = 'off' then s.tried_at else clock_timestamp() end,
         delivered_at = case when p_is_delivered then clock_timestamp() else s.delivered_at end,
         accepted = s.accepted + p_is_delivered::integer,
         failed = s.failed + (not p_is_delivered and p_answer not in ('key', 'scope', 'host', 'off'))::integer,
         attempts = case when p_is_delivered then 0 else s.attempts + 1 end,
         failing_since = case when not p_is_delivered then coalesce(s.failing_since, clock_timestamp()) end,
         next_at = case when p_is_delivered then clock_timestamp()
                   else clock_timestamp() + least(interval '1 hour', interval '10 seconds' * 2 ^ least(s.attempts, 12)) end,
         status = case when not is_on then s.status
                       when p_is_delivered and not needs_handshake then 'active'
                       when p_answer = '410' or s.failing_since < clock_timestamp() - interval '72 hours' then 'error'
                       else s.status end,
         lease = case when has_more then s.lease end, lease_until = case when has_more then s.lease_until end
   where x.site_id = p_site and x.subscription_id = p_id
  returning x.status, x.last_event, x.lease is null;
  if p_upto > s.delivered then
    insert into subscription_usage as u (site_id, subscription_id, bucket, events)
      values (p_site, p_id, quarter, p_upto - s.delivered)
      on conflict (site_id, subscription_id, bucket) do update set events = u.events + excluded.events;
    delete from subscription_usage u
     where u.site_id = p_site and u.subscription_id = p_id and u.bucket < quarter - interval '2 days';
  end if;
end $$;
