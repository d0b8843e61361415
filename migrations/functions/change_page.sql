-- Returns the next changes of a site behind p_after, p_limit at most. Those of p_types have the content of the version and of the
-- version before. It returns fewer if their content has more than p_bytes, but at least one. A change without last_updated has no
-- content any more: the resource or the version was erased.
create or replace function change_page(p_site uuid, p_after bigint, p_limit integer, p_types text[], p_bytes bigint)
returns table (number bigint, type text, id uuid, version integer, last_updated timestamptz, meta text, body text,
  before_meta text, before_body text)
language sql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select x.number, x.type, x.id, x.version, x.last_updated, x.meta, x.body, x.before_meta, x.before_body
    from (
      select c.number, c.type, c.id, c.version, v.last_updated,
             case when c.type = any (p_types) then v.meta end as meta, case when c.type = any (p_types) then v.body end as body,
             b.meta as before_meta, b.body as before_body,
             sum(case when c.type = any (p_types) then octet_length(v.body) + coalesce(octet_length(b.body), 0) end)
               over (order by c.number) as bytes,
             row_number() over (order by c.number) as place
        from (select * from change n where n.site_id = p_site and n.number > p_after order by n.number limit p_limit) c
        left join lateral (
          select r.last_updated, r.meta, r.body from resource r
           where r.site_id = p_site and r.type = c.type and r.id = c.id and r.version = c.version
          union all
          select h.last_updated, h.meta, h.body from resource_history h
           where h.site_id = p_site and h.type = c.type and h.id = c.id and h.version = c.version) v on true
        left join resource_history b
          on c.type = any (p_types) and b.site_id = p_site and b.type = c.type and b.id = c.id and b.version = c.version - 1) x
   where coalesce(x.bytes, 0) <= p_bytes or x.place = 1
   order by x.number
$$;
