-- The events of a subscription behind p_after, up to p_upto and p_limit. It returns fewer where their content has more than p_bytes,
-- but at least one. A change without last_updated has no content any more. Notes the resources for the audit as `notified`.
--   - p_client, p_types: no rows for a subscription of another API key or another type; p_types null: no rows where subscription_refusal has a reason.
--   - p_content: id-only or full-resource; null: as the subscription.
create or replace function subscription_events(p_site uuid, p_id uuid, p_client text, p_types text[], p_after bigint, p_upto bigint, p_limit integer,
  p_content text, p_bytes bigint)
returns table (event bigint, type text, id uuid, version integer, last_updated text, reached text, meta text, body text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  e record;
  payload text;
  total bigint := 0;
  items audit_item[] := '{}';
  ignored text;
begin
  select coalesce(p_content, s.payload) into payload from subscription s
   where s.site_id = p_site and s.subscription_id = p_id and s.client_id = p_client
     and (p_types is null or s.type = any (p_types));
  if not found or p_types is null and subscription_refusal(p_site, p_id) is not null then
    return;
  end if;
  for e in
    select n.event, c.type, c.id, c.version, c.reached, v.last_updated, v.patient_id,
           case when payload = 'full-resource' then v.meta end as meta, case when payload = 'full-resource' then v.body end as body
      from (
        select x.* from (
          select s.last_event - cardinality(s.numbers) + u.place as event, u.number
            from (select * from subscription_event y
                   where y.site_id = p_site and y.subscription_id = p_id and y.last_event > p_after order by y.last_event limit p_limit) s
           cross join lateral unnest(s.numbers) with ordinality u(number, place)
           where s.last_event - cardinality(s.numbers) - p_limit < p_after) x
         where x.event > p_after and x.event <= p_upto order by x.event limit p_limit) n
      join change c on c.site_id = p_site and c.number = n.number
      left join lateral (
        select r.last_updated, r.meta, r.body, r.patient_id from resource r
         where r.site_id = p_site and r.type = c.type and r.id = c.id and r.version = c.version
        union all
        select h.last_updated, h.meta, h.body, h.patient_id from resource_history h
         where h.site_id = p_site and h.type = c.type and h.id = c.id and h.version = c.version) v on true
     order by n.event
  loop
    -- Filled one at a time: documents may be large.
    body := document_fill(e.body);
    total := total + coalesce(octet_length(body), 0);
    if total > p_bytes and cardinality(items) > 0 then
      exit;
    end if;
    event := e.event;
    type := e.type;
    id := e.id;
    version := e.version;
    last_updated := to_char(e.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    reached := to_char(e.reached at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    meta := e.meta;
    items := items || row('notified', e.type, e.id, e.patient_id)::audit_item;
    return next;
  end loop;
  ignored := audit_note(items);
end $$;
