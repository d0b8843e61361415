-- The elements of a resource for precedence_stamp: its members, and its extensions by their URL.
create or replace function precedence_elements(p_content jsonb) returns table (element text, value jsonb)
language sql immutable as $$
  select m.key, m.value from jsonb_each(p_content) m where m.key <> 'extension'
  union all
  select 'extension ' || coalesce(e.value ->> 'url', ''), jsonb_agg(e.value order by e.n)
    from jsonb_array_elements(case when jsonb_typeof(p_content -> 'extension') = 'array' then p_content -> 'extension' end)
         with ordinality e(value, n)
   group by 1
$$;
