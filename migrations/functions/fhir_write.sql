-- Writes of a FHIR client, all or nothing: one write, or those of a transaction (FHIR R4 http, 3.1.0.4, 3.1.0.5, 3.1.0.11).
-- - p_rows: as of resource_write, whose rows are returned with part 'row', in no order.
-- - p_required: of a transaction, [{ type, id, version | null }], the resources that must exist after the writes.
--   Null: p_rows are writes outside a transaction, of different resources.
-- - p_keys, p_patients: the locks: keys (lock_keys), and the identifiers of these patients (lock_patients).
-- A single request passes p_deadline to p_searched. Then the function checks the caller (request_begin) and writes the audit
-- row. A statement of a bundle leaves them out, because the first and last statements of the bundle do both.
-- Raises the SQLSTATEs of resource_write.
-- Raises GW409 with the positions of two rows that would write one resource.
-- Raises GW404 with the position after the rows of a resource of p_required that does not exist.
-- last_updated: a FHIR instant. began_at: of limit_time.
create or replace function fhir_write(p_site uuid, p_rows json, p_required json default null, p_keys text[] default '{}',
  p_patients uuid[] default '{}',
  p_deadline bigint default null, p_lock_ms integer default null, p_work_ms integer default null, p_client text default null,
  p_jti text default null, p_audience text default null, p_protocol text default null, p_scopes text default null,
  p_address text default null, p_request text default null, p_searched text[] default null)
returns table (part text, ordinal integer, outcome text, id uuid, version integer, last_updated text, began_at bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  twice json;
  ignored text;
begin
  if p_deadline is not null then
    began_at := request_begin(p_deadline, p_lock_ms, p_work_ms, p_site, p_client, p_jti, p_audience, p_protocol, p_scopes);
  end if;
  if p_patients <> '{}' then
    ignored := lock_patients(p_site, p_keys, p_patients);
  elsif p_keys <> '{}' then
    ignored := lock_keys(p_site, p_keys);
  end if;
  if p_required is not null then
    select json_agg(y.n - 1) into twice
      from rows from (json_to_recordset(p_rows) as (type text, id uuid, mode text)) with ordinality y(type, id, mode, n)
     where y.mode <> 'keep' group by y.type, y.id having count(*) > 1 limit 1;
    if twice is not null then
      raise exception 'one resource written twice' using errcode = 'GW409', detail = twice::text;
    end if;
  end if;
  part := 'row';
  for ordinal, outcome, id, version, last_updated in
    select w.ordinal, w.outcome, w.id, w.version,
           to_char(w.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      from resource_write(p_site, p_rows) w
  loop
    return next;
  end loop;
  if p_required is not null then
    for r in
      select x.* from rows from (json_to_recordset(p_required) as (type text, id uuid, version integer)) with ordinality
             x(type, id, version, n)
    loop
      ignored := require_resource(p_site, r.type, r.id, r.version, json_array_length(p_rows) + r.n::integer - 1);
    end loop;
  end if;
  if p_deadline is not null then
    ignored := audit_write(p_site, 'key', null, p_client, p_address, p_request, null, p_searched, audit_noted());
    ignored := assert_in_time(p_deadline);
  end if;
end $$;
