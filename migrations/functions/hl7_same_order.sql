-- Whether two results are of one order, by what hl7_result.numbers says of them: the filler's number decides where both
-- know it, else the placer's; without any number whose they are. A namespace means the URI that came beside it, so only
-- two URIs that differ are two authorities. As mayBeSame in edge/hl7/results/result-key.ts.
create or replace function hl7_same_order(p_a json, p_b json) returns boolean
language sql immutable as $$
  select case
      when p_a ->> 'filler' is not null and p_b ->> 'filler' is not null then
        p_a #>> '{filler,value}' = p_b #>> '{filler,value}'
        and coalesce(p_a #>> '{filler,authority,uri}' = p_b #>> '{filler,authority,uri}',
              p_a #>> '{filler,authority,name}' = p_b #>> '{filler,authority,name}', false)
      when p_a ->> 'placer' is not null and p_b ->> 'placer' is not null then
        p_a #>> '{placer,value}' = p_b #>> '{placer,value}'
        and coalesce(p_a #>> '{placer,authority,uri}' = p_b #>> '{placer,authority,uri}',
              p_a #>> '{placer,authority,name}' = p_b #>> '{placer,authority,name}', false)
      else coalesce(p_a ->> 'filler', p_a ->> 'placer', p_b ->> 'filler', p_b ->> 'placer') is null
        and p_a #>> '{own,uri}' is not distinct from p_b #>> '{own,uri}'
        and p_a #>> '{own,name}' is not distinct from p_b #>> '{own,name}'
    end
$$;
