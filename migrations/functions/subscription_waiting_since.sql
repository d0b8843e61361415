-- Returns the time of the first event of a subscription behind p_after, or null without one.
create or replace function subscription_waiting_since(p_site uuid, p_id uuid, p_after bigint) returns timestamptz language sql stable as $$
  select c.reached
    from (select e.numbers[(p_after + 1 - (e.last_event - cardinality(e.numbers)))::integer] as number from subscription_event e
           where e.site_id = p_site and e.subscription_id = p_id and e.last_event > p_after order by e.last_event limit 1) n
    join change c on c.site_id = p_site and c.number = n.number
$$;
