-- Removes source addresses from a site. The outcome is removed, missing (it is not assigned so) or used; then nothing
-- was written. A row with "used" has the Client ID and the name of an active key that would lose an address.
create or replace function site_address_remove(p_site uuid, p_range text, p_application text, p_facility text,
  p_subject text)
returns table (outcome text, client_id text, name text)
language plpgsql as $$
#variable_conflict use_column
declare
  gone site_address;
begin
  perform site_address_lock(true);
  delete from site_address a
   where a.site_id = p_site and a.range = p_range and a.application = p_application and a.facility = p_facility
     and a.tls_subject = p_subject
  returning a.* into gone;
  if not found then
    return query select 'missing', null::text, null::text;
    return;
  end if;
  -- The remaining assignments must cover, for each sender of both, every address of the key in the removed range.
  return query select distinct 'used', k.client_id, k.name
      from api_key k
     cross join unnest(k.allowed_ips) x
     cross join mllp_network(x) n
     where k.site_id = p_site and k.status = 'active' and 'hl7-mllp' = any (k.protocols) and n && gone.network
       and (gone.application = '' or coalesce(k.hl7_sender_application, gone.application) = gone.application)
       and (gone.facility = '' or coalesce(k.hl7_sender_facility, gone.facility) = gone.facility)
       and (gone.tls_subject = '' or coalesce(k.tls_subject, gone.tls_subject) = gone.tls_subject)
       and not mllp_covered(case when n <<= gone.network then n else gone.network end, array(
         select a.network from site_address a
          where a.site_id = p_site
            and a.application in ('', gone.application, k.hl7_sender_application)
            and a.facility in ('', gone.facility, k.hl7_sender_facility)
            and a.tls_subject in ('', gone.tls_subject, k.tls_subject)))
     order by k.client_id;
  if found then
    insert into site_address (site_id, range, application, facility, tls_subject, assigned_at, assigned_by)
      values (gone.site_id, gone.range, gone.application, gone.facility, gone.tls_subject, gone.assigned_at,
        gone.assigned_by);
    return;
  end if;
  return query select 'removed', null::text, null::text;
end $$;
