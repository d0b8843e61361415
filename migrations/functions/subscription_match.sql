-- Stores which changes are events of subscriptions.
--   - p_ids: the compared subscriptions. Each of them had compared up to p_from, and now has up to p_upto.
--   - p_matches [{ id, numbers }]: the changes that are events.
--   - p_failed: the subscriptions with a filter that cannot be used any more.
--
-- A subscription that another runner has compared meanwhile is left out.
create or replace function subscription_match(p_site uuid, p_ids uuid[], p_from bigint, p_upto bigint, p_matches json, p_failed uuid[])
returns void language sql as $$
  with failed as (
    update subscription s
       set status = 'error', last_answer = 'filter', matched_at = clock_timestamp()
     where s.site_id = p_site and s.subscription_id = any (p_failed)
  ), matched as (
    update subscription s
       set matched = p_upto, matched_at = clock_timestamp(),
           last_event = s.last_event + coalesce(cardinality(m.numbers), 0)
      from unnest(p_ids) i (id)
      left join lateral (
        select array(select json_array_elements_text(x.numbers)::bigint) as numbers
          from json_to_recordset(p_matches) as x(id uuid, numbers json) where x.id = i.id) m on true
     where s.site_id = p_site and s.subscription_id = i.id and s.matched = p_from
    returning s.subscription_id, s.last_event, m.numbers
  )
  insert into subscription_event (site_id, subscription_id, last_event, numbers)
    select p_site, m.subscription_id, m.last_event, m.numbers from matched m where m.numbers <> '{}'
$$;
