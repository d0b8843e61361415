-- Returns a text that changes with the settings by which messages of a key are read. Equal texts show equal settings of
-- the key and its site, and equal namespaces (hl7_authorities). The text includes xmin, the transaction that wrote a
-- row, so that no change is missed. Null for a key that does not exist. Most sites have no authority_alias. For these the xmin of
-- the site covers hl7_authorities, which would take most of this function's time.
create or replace function hl7_settings_state(p_site uuid, p_client text) returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(' ', k.xmin, s.xmin,
             case when exists (select from authority_alias a where a.site_id = p_site) then md5(hl7_authorities(p_site, p_client)) end)
      from api_key k
     cross join lateral (select x.xmin from site x where x.site_id = k.site_id limit 1) s
     where k.client_id = p_client and k.site_id = p_site);
end $$;
