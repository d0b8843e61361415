-- Stores which changes are events of subscriptions.
--   - p_ids: the compared subscriptions with their own number. Each of them had compared up to p_from, and now has up to p_upto.
--   - p_matches [{ id, numbers }]: the changes that are events.
--   - p_failed: the subscriptions with a filter that cannot be used any more.
-- It returns false if another runner had stored them: nothing is stored, and changes may be left.
--
-- A row of subscription_event is filled before the next one begins, so that the rows of a year can be deleted at once.
--
-- The subscriptions without a number (`matched`) have compared as far as change_position.matched, so one row says it for all of them.
-- Those that reach this number lose their number. A process keeps their filters, so change_position.members changes when one joins or
-- fails. It does not change when one is deleted: no row is stored for that one. A subscription that another runner has compared meanwhile is left out.
create or replace function subscription_match(p_site uuid, p_ids uuid[], p_from bigint, p_upto bigint, p_matches json, p_failed uuid[])
returns boolean language plpgsql as $$
declare
  common bigint;
  is_common boolean;
  has_own boolean;
  has_changed boolean;
begin
  -- One runner at a time; the next statements see what the one before has stored.
  select c.matched into common from change_position c where c.site_id = p_site for no key update;
  is_common := common = p_from or not exists (select from subscription s where s.site_id = p_site and s.matched is null);
  update subscription s
     set status = 'error', last_answer = 'filter', matched = p_from, matched_at = clock_timestamp()
   where s.site_id = p_site and s.subscription_id = any (p_failed) and coalesce(s.matched, common) = p_from;
  has_own := exists (
    select from subscription s where s.site_id = p_site and s.matched = p_from and s.subscription_id = any (p_ids));
  has_changed := found or is_common and has_own;
  if is_common or has_changed then
    update change_position c
       set matched = case when is_common then p_upto else c.matched end,
           matched_at = case when is_common then clock_timestamp() else c.matched_at end,
           members = case when has_changed then gen_random_uuid() else c.members end
     where c.site_id = p_site;
  end if;
  with found as (
    select x.id, array(select json_array_elements_text(x.numbers)::bigint) as numbers
      from json_to_recordset(p_matches) as x(id uuid, numbers json)
  ), touched as (
    select f.id, f.numbers from found f
    union all
    select s.subscription_id, '{}' from subscription s
     where s.site_id = p_site and s.matched = p_from and s.subscription_id = any (p_ids)
       and s.subscription_id not in (select f.id from found f)
  ), matched as (
    update subscription s
       set matched = case when not is_common then p_upto end, matched_at = clock_timestamp(),
           last_event = s.last_event + cardinality(x.numbers)
      from touched x
     where s.site_id = p_site and s.subscription_id = x.id and coalesce(s.matched, common) = p_from
    returning s.subscription_id, s.last_event, x.numbers
  ), filled as (
    update subscription_event e set last_event = m.last_event, numbers = e.numbers || m.numbers
      from matched m
     where e.site_id = p_site and e.subscription_id = m.subscription_id
       and e.last_event = m.last_event - cardinality(m.numbers) and cardinality(e.numbers) < 100 and m.numbers <> '{}'
    returning e.subscription_id
  )
  insert into subscription_event (site_id, subscription_id, last_event, numbers)
    select p_site, m.subscription_id, m.last_event, m.numbers
      from matched m
     where m.numbers <> '{}' and m.subscription_id not in (select f.subscription_id from filled f);
  return is_common or has_own or has_changed;
end $$;
