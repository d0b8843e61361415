-- Assigns source addresses to a site; p_application, p_facility and p_subject are '' for any.
-- Returned rows: the outcome is added, known (it is assigned so already) or missing (no such site). For each assignment
-- of another site that a message could match too, the outcome is "conflict" with that assignment; then nothing was
-- written.
create or replace function site_address_add(p_site uuid, p_range text, p_application text, p_facility text,
  p_subject text, p_by text)
returns table (outcome text, site_id uuid, range text, application text, facility text, tls_subject text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_network cidr := mllp_network(p_range);
begin
  perform site_address_lock(true);
  if not exists (select from site s where s.site_id = p_site) then
    return query select 'missing', p_site, p_range, p_application, p_facility, p_subject;
    return;
  end if;
  return query select 'conflict', a.site_id, a.range, a.application, a.facility, a.tls_subject
      from site_address a
     where a.site_id <> p_site and a.network && v_network
       and (a.application = '' or p_application = '' or a.application = p_application)
       and (a.facility = '' or p_facility = '' or a.facility = p_facility)
       and (a.tls_subject = '' or p_subject = '' or a.tls_subject = p_subject)
     order by a.site_id, a.range;
  if found then
    return;
  end if;
  insert into site_address (site_id, range, application, facility, tls_subject, assigned_by)
    values (p_site, p_range, p_application, p_facility, p_subject, p_by) on conflict do nothing;
  return query select case when found then 'added' else 'known' end, p_site, p_range, p_application, p_facility, p_subject;
end $$;
