-- True if p_by covers every address of a network: one of them contains the network, or they cover each half of it.
create or replace function mllp_covered(p_network cidr, p_by cidr[]) returns boolean
language plpgsql immutable as $$
declare
  bits integer := masklen(p_network) + 1;
  low cidr;
begin
  if exists (select from unnest(p_by) n where n >>= p_network) then
    return true;
  end if;
  if bits > 128 or not exists (select from unnest(p_by) n where n << p_network) then
    return false;
  end if;
  low := network(set_masklen(p_network::inet, bits));
  return mllp_covered(low, p_by) and mllp_covered(network(set_masklen(broadcast(low) + 1, bits)), p_by);
end $$;
