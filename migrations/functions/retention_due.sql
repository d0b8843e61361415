-- Returns how many rows of each kind all steps of retention_step would delete from a site. One row; none for a site under legal
-- hold. The owner's commands call it.
create or replace function retention_due(p_site uuid, p_now timestamptz)
returns table (messages bigint, attempts bigint, refusals bigint, usage bigint, audit bigint)
language sql as $$
  select
    (select count(*) from hl7_message m
      where m.site_id = p_site and m.raw is not null and m.received_at < until.messages and not m.has_failed),
    (select count(*) from hl7_attempt a
       join hl7_message m on m.site_id = a.site_id and m.message_id = a.message_id
      where a.site_id = p_site and a.at < until.attempts and not m.has_failed
        -- The other attempts are deleted with their messages, which are counted above.
        and (m.raw is null or m.received_at >= until.messages)
        and exists (select from hl7_attempt n
                     where n.site_id = a.site_id and n.message_id = a.message_id and n.number > a.number)
        and (a.outcome <> 'AA' or exists (
          select from hl7_attempt f where f.site_id = a.site_id and f.message_id = a.message_id and f.outcome = 'AA'
             and f.number < a.number))),
    (select count(*) from refusal r where r.site_id = p_site and r.since < until.attempts),
    (select count(*) from usage u where u.site_id = p_site and u.bucket < until.usage),
    (select count(*) from audit x
      where x.site_id = p_site
        and x.at < least(until.audit, now() - make_interval(days => (select g.days from audit_minimum_age g))))
    from retention_until(p_site, p_now) until
$$;
