-- Begins a bulk export of the content that is stored at this moment. Raises GW429 when the key already runs p_limit
-- exports. An export counts if it is not complete and was begun or requested within ten minutes. An export that a
-- client has forgotten therefore blocks no new export. Raises GW422 for a patient that the site does not have, GW404 for a Group
-- that it does not have at this moment. Raises GW408 for a Group if the key does not allow system/Group.read.
--
-- The moment is read first, and this transaction gets its id after it. Writers get their id first (write_time), so a
-- writer with a later id wrote later. Once every transaction with an earlier id has ended, the writes from before the
-- moment are settled (bulk_export_step). An id that this transaction already had would be older than the moment.
-- Writers for which no step waits could then be in between.
create or replace function bulk_export_begin(p_site uuid, p_client text, p_export uuid, p_request text, p_types text[],
  p_of_patients boolean, p_since timestamptz, p_patients uuid[], p_group uuid, p_filters text[], p_outcomes text,
  p_expires_seconds integer, p_limit integer)
returns void language plpgsql as $$
declare
  moment timestamptz;
begin
  -- If two begin at the same time, the second counts the first.
  perform lock_keys(p_site, array['bulk export|' || p_client]);
  if (select count(*) from bulk_export x
       where x.site_id = p_site and x.client_id = p_client and not x.is_complete
         and x.asked_at > clock_timestamp() - interval '10 minutes' and x.expires_at > clock_timestamp()) >= p_limit then
    raise exception 'enough exports are under way' using errcode = 'GW429';
  end if;
  if p_group is not null and not exists (
      select from api_key k
       where k.site_id = p_site and k.client_id = p_client and 'system/Group.read' = any (k.allowed_scopes)) then
    raise exception 'the API key may not read groups' using errcode = 'GW408';
  end if;
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'the transaction has written before it read the clock';
  end if;
  if exists (
      select from unnest(p_patients) n (id)
       where not exists (
         select from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = n.id offset 0)) then
    raise exception 'no such patient' using errcode = 'GW422';
  end if;
  moment := date_trunc('milliseconds', clock_timestamp());
  if p_group is not null and not exists (
      select from resource c
       cross join lateral resource_version_at(p_site, c.type, c.id, c.version, c.last_updated, c.meta, c.body, c.patient_id, moment)
       where c.site_id = p_site and c.type = 'Group' and c.id = p_group) then
    raise exception 'no such group' using errcode = 'GW404';
  end if;
  insert into bulk_export (site_id, export_id, client_id, request, types, of_patients, since, patients, group_id, filters, outcomes, snapshot_at, begun_by,
      expires_at)
    values (p_site, p_export, p_client, p_request, p_types, p_of_patients, p_since, p_patients, p_group, p_filters, p_outcomes, moment,
      pg_current_xact_id()::text::bigint, moment + make_interval(secs => p_expires_seconds));
  perform audit_note(array[row('export', 'BulkExport', p_export, null)::audit_item]
    || case when p_group is not null then array[row('export', 'Group', p_group, null)::audit_item] end);
end $$;
