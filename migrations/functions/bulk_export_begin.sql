-- Begins a bulk export of what is stored at this moment. Raises GW429 when the key has p_limit under way: that are not
-- complete, and were begun or asked for within ten minutes, so that what a client has forgotten does not stop it.
--
-- The moment is read first, then the id of this transaction is taken. Writers take their id first (write_time), so what has
-- a later id was written later: once every transaction with an earlier id has ended, what was written before the moment is
-- settled (bulk_export_step). An id that this transaction had already would be older than the moment, and writers that
-- nobody waits for could stand between.
create or replace function bulk_export_begin(p_site uuid, p_client text, p_export uuid, p_request text, p_types text[],
  p_of_patients boolean, p_since timestamptz, p_outcomes text, p_expires_seconds integer, p_limit integer)
returns void language plpgsql as $$
declare
  moment timestamptz;
begin
  -- Of two that begin at once the second counts the first.
  perform lock_keys(p_site, array['bulk export|' || p_client]);
  if (select count(*) from bulk_export x
       where x.site_id = p_site and x.client_id = p_client and not x.is_complete
         and x.asked_at > clock_timestamp() - interval '10 minutes' and x.expires_at > clock_timestamp()) >= p_limit then
    raise exception 'enough exports are under way' using errcode = 'GW429';
  end if;
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'the transaction has written before it read the clock';
  end if;
  moment := date_trunc('milliseconds', clock_timestamp());
  insert into bulk_export (site_id, export_id, client_id, request, types, of_patients, since, outcomes, taken_at, begun_by,
      expires_at)
    values (p_site, p_export, p_client, p_request, p_types, p_of_patients, p_since, p_outcomes, moment,
      pg_current_xact_id()::text::bigint, moment + make_interval(secs => p_expires_seconds));
  perform audit_note(array[row('export', 'BulkExport', p_export, null)::audit_item]);
end $$;
