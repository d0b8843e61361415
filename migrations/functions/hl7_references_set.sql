-- Returns a resource's body in which each reference to p_from[i] is a reference to p_to[i].
create or replace function hl7_references_set(p_body text, p_from uuid[], p_to uuid[]) returns text
language plpgsql immutable as $$
declare
  body text := p_body;
  id text;
begin
  if p_from = '{}' then return p_body; end if;
  for id in
    select distinct x[2]
      from regexp_matches(p_body, '"([A-Za-z]+)/([0-9a-f-]{36})"', 'g') x
     where x[2] = any (p_from::text[])
  loop
    body := regexp_replace(body, '"([A-Za-z]+)/' || id || '"',
      '"\1/' || p_to[array_position(p_from, id::uuid)] || '"', 'g');
  end loop;
  return body;
end $$;
