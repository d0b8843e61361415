-- Adds rejected and failed requests to the log (edge/http/refusals.ts), those of one reason and quarter of an hour to
-- one row.
--   - p_refusals: [{ clientId, surface, answer, code, reason, requests, firstAt, lastAt: milliseconds, requestIds: the
--     newest first, sourceAddress }].
--
-- Nothing is stored for an unknown client. Only the key determines the site, so the function has the owner's rights,
-- and it returns nothing of the key. For each code and quarter of an hour it keeps ten reasons; the others are counted
-- under the code alone. Requests after a change of their key are counted separately. Rows are written in the order of
-- their key, so that two processes do not wait for each other. Each row keeps the newest 100 request ids; an id has no
-- space in it (edge/http/request-id.ts).
create or replace function refusals_note(p_refusals json) returns void language sql
security definer
set search_path = public, pg_temp
as $$
  insert into refusal as r (site_id, client_id, since, surface, answer, code, reason, requests, first_at, last_at, request_ids,
      source_address)
  with given as (
    select k.site_id, k.client_id, x.surface, x.answer, x.code, x.reason, x.requests, t.first_at, t.last_at,
           array_to_string(x."requestIds", ' ') as ids, x."sourceAddress" as source_address,
           case when t.last_at < k.updated_at then date_bin('15 minutes', t.last_at, 'epoch')
                else greatest(date_bin('15 minutes', t.last_at, 'epoch'), k.updated_at) end as since
      from json_to_recordset(p_refusals) as x("clientId" text, surface text, answer text, code text, reason text,
             requests bigint, "firstAt" bigint, "lastAt" bigint, "requestIds" text[], "sourceAddress" text)
      join api_key k on k.client_id = x."clientId"
     cross join lateral (
       select least(to_timestamp(x."firstAt" / 1000.0), clock_timestamp()) as first_at,
              least(to_timestamp(x."lastAt" / 1000.0), clock_timestamp()) as last_at) t
  ), known as (
    select g.*,
           exists (select from refusal o
                    where o.site_id = g.site_id and o.client_id = g.client_id and o.since = g.since and o.surface = g.surface
                      and o.answer = g.answer and o.code = g.code and o.reason_key = md5(g.reason)::uuid) as is_stored,
           (select count(*) from refusal o
             where o.site_id = g.site_id and o.client_id = g.client_id and o.since = g.since and o.surface = g.surface
               and o.code = g.code) as stored_reasons
      from given g
  ), kept as (
    select k.*, case when k.is_stored or k.stored_reasons + row_number() over (
               partition by k.site_id, k.client_id, k.since, k.surface, k.code, k.is_stored order by k.requests desc) <= 10
             then k.reason else '' end as kept_reason
      from known k
  )
  select site_id, client_id, since, surface, answer, code, kept_reason, sum(requests), min(first_at), max(last_at),
         (string_to_array(string_agg(ids, ' ' order by last_at desc), ' '))[:100], (array_agg(source_address order by last_at desc))[1]
    from kept group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, md5(kept_reason)::uuid
  on conflict (site_id, client_id, since, surface, answer, code, reason_key) do update
    set requests = r.requests + excluded.requests,
        first_at = least(r.first_at, excluded.first_at),
        last_at = greatest(r.last_at, excluded.last_at),
        request_ids = (excluded.request_ids || r.request_ids)[:100],
        source_address = excluded.source_address
$$;
