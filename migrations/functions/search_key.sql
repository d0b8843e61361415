-- The key under which a value is searched: the value itself, or its digest where it would not fit an index entry
-- (PostgreSQL: a third of a page). What is written and what is asked for both pass through here.
-- The digest is a function of its own: its conversion is stable to PostgreSQL, and an immutable function with such a part is
-- called for each value, where this becomes a part of the statement that asks for it.
create or replace function search_key(p_value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(p_value) <= 600 then p_value else search_digest(p_value) end
$$;
