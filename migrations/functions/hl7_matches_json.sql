-- The rows of hl7_matches as a JSON list; null for none. Without p_with_contents, meta and body are ''.
--
-- More than 16 MiB is 'excess': the memory of a runtime holds the rows several times. A row counts with 512 bytes beside its
-- contents (edge/store/page.ts). The contents are counted before they are read from their place beside the row.
create or replace function hl7_matches_json(p_site uuid, p_values text[], p_types text[], p_keys text[],
  p_with_contents boolean) returns text
language plpgsql stable as $$
begin
  return (
    with m as materialized (select f.* from hl7_matches(p_site, p_values, p_types, p_keys) f)
    select case when (
        select sum(512 + octet_length(m.key) + octet_length(m.meta) + octet_length(m.body)
                 + coalesce(octet_length(m.contributions), 0)) > 16 * 1024 * 1024 from m)
      then 'excess'
      else (
        select json_agg(json_build_object('role', m.role, 'key', m.key, 'type', m.type, 'id', m.id, 'version', m.version,
                 'last_updated', to_char(m.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                 'meta', case when p_with_contents then m.meta else '' end,
                 'body', case when p_with_contents then m.body else '' end,
                 'contributions', m.contributions, 'asked', m.asked, 'state', m.state))::text
          from m) end);
end $$;
