-- Returns the current activity of each active key of a site, and the usual activity to compare it with
-- (edge/admin/feeds/judge.ts). There is one row for each surface and sender of a key. A key without activity has one
-- row without a surface. Keys that were disabled within a week are included. The cost depends on keys and senders,
-- never on messages.
--   - p_now: the time of the caller.
--   - today: since midnight in the site's time zone.
--   - hour: the last four complete quarters of an hour.
--   - late: the last hour and the elapsed part of its quarter.
--   - weeks_hour, days_hour: the same hour one to four weeks and one to seven days before, in the site's time zone.
--     Null before the sender's first activity, and before counts were kept.
--   - weeks_gap, days_gap: as these, for the time since the last message, at most one day.
--   - fault: the last of its rejected requests in 24 hours that is more than a 404.
create or replace function feeds_now(p_site uuid, p_now timestamptz, p_limit integer)
returns table (client_id text, name text, status text, protocols text[], watched boolean, surface text, application text,
  facility text, first_at timestamptz, last_at timestamptz, accepted bigint, refused bigint, rejected bigint, hour bigint,
  late_refused bigint, weeks_hour bigint[], days_hour bigint[], weeks_gap bigint[], days_gap bigint[], refusals bigint,
  fault_reason text, fault_code text, fault_surface text, fault_at timestamptz)
language sql stable as $$
  with clock as materialized (
    select z.zone, date_trunc('day', p_now at time zone z.zone) at time zone z.zone as today,
           date_bin('15 minutes', p_now, 'epoch') as quarter,
           (select p_now - make_interval(days => s.keep_usage_days) from site s where s.site_id = p_site) as counted
      from (select search_zone(p_site) as zone) z
  ), keys as (
    select k.* from api_key k
     where k.site_id = p_site and (k.status = 'active' or k.updated_at > p_now - interval '7 days')
     order by k.name, k.client_id limit p_limit
  ), senders as (
    select f.client_id, f.surface, f.application, f.facility, f.first_at, f.last_at
      from keys k join feed f on f.site_id = p_site and f.client_id = k.client_id
    union all
    -- A FHIR request has no sender.
    select k.client_id, 'fhir', '', '', last.bucket, last.bucket
      from keys k
     cross join lateral (select u.bucket from key_usage u
       where u.site_id = p_site and u.client_id = k.client_id and u.surface = 'fhir' order by u.bucket desc limit 1) last
  )
  select k.client_id, k.name, k.status, k.protocols, k.silent_after_minutes is not null, s.surface, s.application, s.facility,
         s.first_at, s.last_at, coalesce(today.accepted, 0), coalesce(today.refused, 0), coalesce(today.rejected, 0),
         coalesce(today.hour, 0), coalesce(today.late, 0), usual.weeks_hour, usual.days_hour, usual.weeks_gap, usual.days_gap,
         coalesce(fault.requests, 0), fault.reason, fault.code, fault.surface, fault.last_at
    from keys k cross join clock c
    left join senders s on s.client_id = k.client_id
    left join lateral (
      select sum(u.accepted) filter (where u.bucket >= c.today) as accepted,
             sum(u.refused) filter (where u.bucket >= c.today) as refused,
             sum(u.rejected) filter (where u.bucket >= c.today) as rejected,
             sum(u.accepted + u.refused + u.rejected)
               filter (where u.bucket >= c.quarter - interval '1 hour' and u.bucket < c.quarter) as hour,
             sum(u.refused + u.rejected) filter (where u.bucket >= c.quarter - interval '1 hour') as late
        from key_usage u
       where u.site_id = p_site and u.client_id = s.client_id
         and u.bucket >= least(c.today, c.quarter - interval '1 hour')
         and u.surface = s.surface and u.application = s.application and u.facility = s.facility
    ) today on true
    left join lateral (
      select array_agg(x.hour order by x.back) filter (where x.weeks) as weeks_hour,
             array_agg(x.hour order by x.back) filter (where x.days) as days_hour,
             array_agg(x.gap order by x.back) filter (where x.weeks) as weeks_gap,
             array_agg(x.gap order by x.back) filter (where x.days) as days_gap
        from (
          select b.back, b.back % 7 = 0 as weeks, b.back <= 7 as days,
                 case when w.hour_from >= greatest(s.first_at, c.counted) then (
                   select coalesce(sum(u.accepted + u.refused + u.rejected), 0) from key_usage u
                    where u.site_id = p_site and u.client_id = s.client_id and u.bucket >= w.hour_from
                      and u.bucket < w.hour_to and u.surface = s.surface and u.application = s.application
                      and u.facility = s.facility) end as hour,
                 case when w.gap_from >= greatest(s.first_at, c.counted) then (
                   select coalesce(sum(u.accepted + u.refused + u.rejected), 0) from key_usage u
                    where u.site_id = p_site and u.client_id = s.client_id and u.bucket >= w.gap_from
                      and u.bucket < w.hour_to and u.surface = s.surface and u.application = s.application
                      and u.facility = s.facility) end as gap
            from unnest(array[1, 2, 3, 4, 5, 6, 7, 14, 21, 28]) b(back)
           cross join lateral (
             select make_interval(days => b.back) as back) i
           cross join lateral (
             select (((c.quarter - interval '1 hour') at time zone c.zone) - i.back) at time zone c.zone as hour_from,
                    ((c.quarter at time zone c.zone) - i.back) at time zone c.zone as hour_to,
                    -- The range begins with the quarter after the last message, since the message's quarter had
                    -- activity.
                    (((date_bin('15 minutes', greatest(s.last_at, p_now - interval '1 day'), 'epoch') + interval '15 minutes')
                      at time zone c.zone) - i.back) at time zone c.zone as gap_from) w
           where s.surface in ('hl7', 'mllp')
        ) x
    ) usual on true
    left join lateral (
      select sum(r.requests) over () as requests, r.reason, r.code, r.surface, r.last_at
        from refusal r
       where r.site_id = p_site and r.client_id = k.client_id and r.since >= p_now - interval '24 hours'
       order by r.answer = '404', r.last_at desc limit 1
    ) fault on true
   order by k.name, k.client_id, s.last_at desc
$$;
