-- Stores the results of posting notices, p_tried [{ site, id, answer, isDelivered }]. It has the owner's rights,
-- because it covers all sites. A failed notice is retried with a delay of one minute, which doubles up to 60 minutes.
-- It is given up after three days, or immediately if the site has no webhook.
create or replace function alert_notices_tried(p_tried json) returns void language sql
security definer
set search_path = public, pg_temp
as $$
  update alert_notice n
     set attempts = n.attempts + 1, last_answer = x.answer,
         delivered_at = case when x."isDelivered" then clock_timestamp() end,
         given_up_at = case when not x."isDelivered"
           and (x.answer = 'no-webhook' or n.at < clock_timestamp() - interval '3 days') then clock_timestamp() end,
         next_at = clock_timestamp() + least(interval '60 minutes', interval '1 minute' * 2 ^ least(n.attempts, 10))
    from json_to_recordset(p_tried) as x(site uuid, id uuid, answer text, "isDelivered" boolean)
   where n.site_id = x.site and n.notice_id = x.id and n.delivered_at is null
$$;
