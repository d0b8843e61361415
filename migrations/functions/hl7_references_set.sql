-- A resource's body that refers to the results of p_to where it referred to those of p_from, each to its own; null for none.
create or replace function hl7_references_set(p_body text, p_from uuid[], p_to uuid[]) returns text
language plpgsql immutable as $$
declare
  body text := p_body;
  id uuid;
begin
  for id in
    select distinct x[2]::uuid
      from regexp_matches(p_body, '"(Observation|DiagnosticReport)/([0-9a-f-]{36})"', 'g') x
     where x[2]::uuid = any (p_from)
  loop
    body := regexp_replace(body, '"(Observation|DiagnosticReport)/' || id || '"',
      '"\1/' || p_to[array_position(p_from, id)] || '"', 'g');
  end loop;
  return body;
end $$;
