-- Changes the delivery of a subscription, for an administrator.
--   - pause: nothing more is posted. The result of a post under way is stored.
--   - resume: a paused subscription, or one with the status error, begins again with a handshake. A failing one is tried now.
--   - resend: the events from p_from are posted again. The result of a post under way is not stored, and the next post waits until
--     that one has ended.
-- The column outcome is done, or why nothing was changed:
--   - missing: the site has no subscription with this id.
--   - key, scope, host: as subscription_refusal.
--   - ended: its end has passed.
--   - event: p_from is not the number of a delivered event.
create or replace function subscription_switch(p_site uuid, p_id uuid, p_change text, p_from bigint) returns table (outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  s subscription;
  refusal text;
begin
  select x.* into s from subscription x where x.site_id = p_site and x.subscription_id = p_id for no key update;
  if not found then
    return query select 'missing';
    return;
  end if;
  if p_change = 'pause' then
    update subscription x
       set status = 'off', version = x.version + 1, updated_at = clock_timestamp()
     where x.site_id = p_site and x.subscription_id = p_id and x.status <> 'off';
  elsif p_change = 'resume' then
    refusal := subscription_refusal(p_site, p_id);
    if refusal <> 'off' or s.ends_at <= clock_timestamp() then
      return query select case when refusal <> 'off' then refusal else 'ended' end;
      return;
    end if;
    update subscription x
       set status = case when x.status in ('off', 'error') then 'requested' else x.status end, attempts = 0,
           failing_since = case when x.status not in ('off', 'error') then x.failing_since end,
           next_at = clock_timestamp(), restarted_at = clock_timestamp(),
           version = x.version + (x.status in ('off', 'error'))::integer,
           updated_at = case when x.status in ('off', 'error') then clock_timestamp() else x.updated_at end
     where x.site_id = p_site and x.subscription_id = p_id;
  else
    if p_from not between 1 and s.delivered then
      return query select 'event';
      return;
    end if;
    -- A post ends after 5 s.
    update subscription x
       set delivered = p_from - 1, next_at = clock_timestamp(), restarted_at = clock_timestamp(), lease = null,
           lease_until = case when x.lease_until > clock_timestamp()
             then least(x.lease_until, clock_timestamp() + interval '10 seconds') end
     where x.site_id = p_site and x.subscription_id = p_id;
  end if;
  perform audit_note(array[row(case p_change when 'pause' then 'subscription-paused' when 'resume' then 'subscription-resumed'
    else 'subscription-resent' end, 'Subscription', p_id, null)::audit_item]);
  return query select 'done';
end $$;
