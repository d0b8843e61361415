-- The keys of all date parameters of a type (date_key).
create or replace function date_keys(p_type text) returns smallint[] language sql immutable parallel safe as $$
  select array[date_key(p_type, 'date'), date_key(p_type, 'period'), date_key(p_type, 'onset-date'), date_key(p_type, 'recorded-date')]
$$;
