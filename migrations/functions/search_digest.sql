-- The digest by which a value is searched that is too long for an index entry (search_key).
create or replace function search_digest(p_value text) returns text language sql immutable parallel safe as $$
  select 'sha256:' || encode(sha256(convert_to(p_value, 'UTF8')), 'hex')
$$;
