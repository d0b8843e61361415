-- The patient that a patient was merged into, at the end of the chain of links; the patient itself, where it was not.
create or replace function patient_survivor(p_site uuid, p_id uuid) returns uuid
language plpgsql stable as $$
declare
  at uuid := p_id;
  target uuid;
begin
  -- A loop in the links ends here.
  for depth in 1 .. 16 loop
    target := (select r.replaced_by from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = at);
    exit when target is null;
    at := target;
  end loop;
  return at;
end $$;
