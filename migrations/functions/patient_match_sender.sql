-- Returns the settings by which Patient/$match compares identifiers, for an API key: its row of hl7_sender, as text. Raises
-- GW407 where the key may not match patients.
create or replace function patient_match_sender(p_site uuid, p_client text) returns text language plpgsql stable as $$
begin
  if not (select k.patient_match from api_key k where k.site_id = p_site and k.client_id = p_client) then
    raise exception 'the API key may not match patients' using errcode = 'GW407';
  end if;
  return (select s::text from hl7_sender(p_site, p_client, '', '', '', '') s);
end $$;
