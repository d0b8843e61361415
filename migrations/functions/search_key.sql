-- The key under which a value is searched: the value itself, or its digest where it would not fit an index entry
-- (PostgreSQL: a third of a page). What is written and what is asked for both pass through here.
create or replace function search_key(p_value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(p_value) <= 600 then p_value
              else 'sha256:' || encode(sha256(convert_to(p_value, 'UTF8')), 'hex') end
$$;
