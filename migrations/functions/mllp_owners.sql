-- The sites that senders like this one are assigned to (site_address): one or none, as long as only site_address_add writes.
create or replace function mllp_owners(p_address text, p_application text, p_facility text, p_subject text)
returns uuid[]
language sql stable as $$
  select array(
    select distinct a.site_id from site_address a
     where a.network >>= mllp_network(p_address) and a.application in ('', p_application)
       and a.facility in ('', p_facility) and a.tls_subject in ('', p_subject))
$$;
