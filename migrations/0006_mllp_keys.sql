-- Which keys an MLLP message may be of, found by index however many keys there are. This only narrows: what a range
-- holds is decided by the edge (shared/hl7/mllp-key.ts), so a key may be found here whose ranges do not hold the address.

-- Allowed IPs as networks, `::/0` for every address. PostgreSQL keeps the families apart; we do not: an IPv4-mapped
-- network (RFC 4291 §2.5.5.2) is its IPv4 network, and one that holds all of IPv4 is everything. What is no range is
-- left out.
create function mllp_networks(p_allowed_ips text[]) returns cidr[]
language sql immutable cost 5000 as $$
  select coalesce(array_agg(
           case when a = '*' or '::ffff:0.0.0.0/96'::inet <<= a::inet then '::/0'::cidr
                when a::inet << '::ffff:0.0.0.0/96'::inet
                then network(set_masklen(substr(host(a::inet), 8)::inet, masklen(a::inet) - 96))
                else network(a::inet) end), '{}')
    from unnest(p_allowed_ips) a where a = '*' or pg_input_is_valid(a, 'inet')
$$;

-- All networks that hold an address; of an IPv4 address, which is written as such, also `::/0`.
create function mllp_networks_of(p_address text) returns cidr[]
language sql immutable as $$
  select coalesce(array_agg(network(set_masklen(a::inet, bits))) || '::/0'::cidr, '{}')
    from unnest(array[p_address]) a cross join generate_series(0, 128) bits
   where pg_input_is_valid(a, 'inet') and bits <= case when a like '%:%' then 128 else 32 end
$$;

-- Keys are changed seldom and looked for with each message: no list of pending entries.
create index api_key_allowed_networks on api_key using gin (mllp_networks(allowed_ips)) with (fastupdate = off);
create index api_key_sender_application on api_key (hl7_sender_application);
create index api_key_sender_facility on api_key (hl7_sender_facility);
