-- Returns the key under which a value is searched: the value itself, or its digest. An index entry of PostgreSQL is
-- limited to a third of a page, so that longer values need the digest. Both writes and searches use this function. The
-- digest is a separate function, because its conversion is stable to PostgreSQL. PostgreSQL calls an immutable function
-- with such a part for each value, but inlines this function into the statement.
create or replace function search_key(p_value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(p_value) <= 600 then p_value else search_digest(p_value) end
$$;
