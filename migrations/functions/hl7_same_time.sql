-- Whether two times of collection may be one: a minute or a day in UTC, '' for unknown. A day is that of some time zone,
-- which may be 14 hours away. As mayBeSameTime in edge/hl7/results/collection-time.ts.
create or replace function hl7_same_time(p_a text, p_b text) returns boolean
language sql stable as $$
  select case
      when p_a = '' or p_b = '' or p_a = p_b then true
      when length(p_a) = length(p_b) then false
      when length(p_a) < length(p_b) then rtrim(p_b, 'Z')::timestamp - p_a::timestamp >= interval '-14 hours'
        and rtrim(p_b, 'Z')::timestamp - p_a::timestamp < interval '38 hours'
      else rtrim(p_a, 'Z')::timestamp - p_b::timestamp >= interval '-14 hours'
        and rtrim(p_a, 'Z')::timestamp - p_b::timestamp < interval '38 hours'
    end
$$;
