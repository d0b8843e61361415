-- Stores the result of a post. p_upto: the last event of an accepted post; null: it was not accepted, or had no events. A
-- failed post is repeated after 10 s, then after twice the time each, an hour at most. After three days, or for the answer 410, the
-- status is error. The lease ends if the post failed or no event is left. Returns no row if the lease was lost: then nothing is
-- stored.
create or replace function subscription_tried(p_site uuid, p_id uuid, p_lease uuid, p_upto bigint, p_answer text, p_is_delivered boolean)
returns table (status text, last_event bigint, is_released boolean) language sql as $$
  update subscription s
     set delivered = greatest(s.delivered, coalesce(p_upto, s.delivered)), last_answer = p_answer, tried_at = clock_timestamp(),
         delivered_at = case when p_is_delivered then clock_timestamp() else s.delivered_at end,
         attempts = case when p_is_delivered then 0 else s.attempts + 1 end,
         failing_since = case when not p_is_delivered then coalesce(s.failing_since, clock_timestamp()) end,
         next_at = case when p_is_delivered then clock_timestamp()
                   else clock_timestamp() + least(interval '1 hour', interval '10 seconds' * 2 ^ least(s.attempts, 12)) end,
         status = case when p_is_delivered then 'active'
                       when p_answer = '410' or s.failing_since < clock_timestamp() - interval '72 hours' then 'error'
                       else s.status end,
         lease = case when p_is_delivered and coalesce(p_upto, s.delivered) < s.last_event then s.lease end,
         lease_until = case when p_is_delivered and coalesce(p_upto, s.delivered) < s.last_event then s.lease_until end
   where s.site_id = p_site and s.subscription_id = p_id and s.lease = p_lease
  returning s.status, s.last_event, s.lease is null
$$;
