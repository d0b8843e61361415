-- When what a result or report says now was said: the order (edge/hl7/order/order.ts) of its value or status, by messages
-- or by a FHIR client, else of anything; null where nobody is remembered. One that begins with '-' only held until somebody
-- says otherwise. To be compared byte by byte.
create or replace function hl7_order_of_result(p_site uuid, p_type text, p_id uuid) returns text
language sql stable as $$
  select coalesce(max(s.said collate "C") filter (where s.element ~ '^(status$|value|component$)'), max(s.said collate "C"))
    from hl7_order o
   cross join lateral (
     select f.key as said, e.element
       from json_each(o.fields::json) f cross join lateral json_object_keys(f.value) e(element) where f.key !~ '^-'
     union all
     select '1|' || lpad(t.value, 15, '0') || '|99|' || lpad(t.value, 15, '0') || '|', t.key
       from json_each_text(o.stamps::json) t) s
   where o.site_id = p_site and o.type = p_type and o.id = p_id
$$;
