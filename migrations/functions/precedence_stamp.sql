-- Stores which elements of a resource a FHIR client changed, and when, so that an older message does not undo the
-- change. The arguments p_old and p_new are the bodies as in table resource. Each extension counts separately, under
-- 'extension <url>'. It stores them only if messages may be about the resource: it is a Patient, or a message was about
-- it.
create or replace function precedence_stamp(p_site uuid, p_type text, p_id uuid, p_old text, p_new text, p_at timestamptz)
returns void language plpgsql as $$
declare
  changed json;
begin
  if p_type <> 'Patient' and not exists (
    select from hl7_precedence o where o.site_id = p_site and o.type = p_type and o.id = p_id) then
    return;
  end if;
  -- jsonb compares values: neither the order of members nor how a number is written counts.
  with was as (
    select * from precedence_elements(('{' || p_old || '}')::jsonb)
  ), is_now as (
    select * from precedence_elements(('{' || p_new || '}')::jsonb)
  )
  select json_object_agg(coalesce(w.element, n.element), floor(extract(epoch from p_at) * 1000)) into changed
    from was w full join is_now n on n.element = w.element
   where w.value is distinct from n.value;
  if changed is null then return; end if;
  insert into hl7_precedence as o (site_id, type, id, stamps) values (p_site, p_type, p_id, changed::text)
    on conflict (site_id, type, id) do update set stamps = (o.stamps::jsonb || excluded.stamps::jsonb)::text;
end $$;
