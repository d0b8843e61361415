-- The key of a value in the search tables. It is the value itself, or its digest if an index entry (a third of a page) is too
-- small. Stored and requested values both use it.
-- The digest is another function, because its conversion is stable. PostgreSQL calls an immutable function with a stable part for
-- each value, but inlines this one.
create or replace function search_key(p_value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(p_value) > 600 then search_digest(p_value) else p_value end
$$;
