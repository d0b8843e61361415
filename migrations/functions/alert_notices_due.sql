-- Returns the notices to post now. It has the owner's rights, because it covers all sites. The result has the oldest
-- notices: p_of_site of each site, p_limit in total. A receiver that hangs therefore delays no other site. The webhook
-- is null if the site no longer has a webhook.
create or replace function alert_notices_due(p_limit integer, p_of_site integer)
returns table (site_id uuid, notice_id uuid, webhook text, state text, at timestamptz, attempts integer, alert_id uuid,
  kind text, subject text, firing_since timestamptz, resolved_at timestamptz, times integer)
language sql stable
security definer
set search_path = public, pg_temp
as $$
  select d.site_id, d.notice_id, s.alert_webhook, d.state, d.at, d.attempts, a.alert_id, a.kind, a.subject, a.firing_since,
         a.resolved_at, a.times
    from (select n.*, row_number() over (partition by n.site_id order by n.next_at, n.notice_id) as place
            from alert_notice n
           where n.delivered_at is null and n.given_up_at is null and n.next_at <= clock_timestamp()) d
    join site s on s.site_id = d.site_id
    join alert a on a.site_id = d.site_id and a.alert_id = d.alert_id
   where d.place <= p_of_site
   order by d.next_at, d.notice_id limit p_limit
$$;
