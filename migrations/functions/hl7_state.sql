-- One text for all that hl7_match finds: the same text, the same rows in the same versions.
create or replace function hl7_state(p_site uuid, p_values text[], p_types text[], p_keys text[]) returns text
language plpgsql stable as $$
begin
  return (select coalesce(md5(string_agg(concat_ws('|', m.role, m.key, m.type, m.id, m.version), ','
                   order by m.role, m.key, m.type, m.id)), '')
            from hl7_match(p_site, p_values, p_types, p_keys) m);
end $$;
