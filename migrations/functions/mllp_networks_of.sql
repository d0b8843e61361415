-- All networks that hold an address; of an IPv4 address, which is written as such, also `::/0`.
create or replace function mllp_networks_of(p_address text) returns cidr[]
language sql immutable as $$
  select coalesce(array_agg(network(set_masklen(a::inet, bits))) || '::/0'::cidr, '{}')
    from unnest(array[p_address]) a cross join generate_series(0, 128) bits
   where pg_input_is_valid(a, 'inet') and bits <= case when a like '%:%' then 128 else 32 end
$$;
