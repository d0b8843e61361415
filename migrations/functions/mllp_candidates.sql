-- Returns the API keys that an MLLP message may be of (is_allowed). It also returns keys that nearly match, so that a
-- refusal can show their administrators the reason.
--   - p_subject: of the sender's certificate; '' without a certificate.
--   - is_own: the operator assigned such senders to the key's site (site_address).
--   - is_foreign: the operator assigned them to another site.
--
-- For Allowed IPs this only narrows the list: the edge checks the ranges (edge/hl7/ingest/sender/select-key.ts). The
-- site of the message is not known before, so the search has the owner's rights, and returns nothing else. If all
-- possible keys are of one site, the batch is about that site from here on. Its later statements find the keys' Client
-- IDs in gateway.keys. In gateway.senders they find the same text for the same rows, independent of the site. Settings:
-- migrations/README.md, "Plans".
create or replace function mllp_candidates(p_address text, p_application text, p_facility text, p_subject text)
returns table (site_id uuid, client_id text, status text, protocols text[], allowed_ips text[],
  hl7_sender_application text, hl7_sender_facility text, tls_subject text, is_own boolean, is_foreign boolean,
  is_allowed boolean)
language plpgsql
security definer
set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  sites uuid[] := '{}';
  keys text[] := '{}';
  state text := '';
begin
  for site_id, client_id, status, protocols, allowed_ips, hl7_sender_application, hl7_sender_facility, tls_subject, is_own,
      is_foreign, is_allowed in
    select k.site_id, k.client_id, k.status, k.protocols, k.allowed_ips, k.hl7_sender_application, k.hl7_sender_facility,
           k.tls_subject, k.site_id = any (o.owners), o.owners <> array[k.site_id] and o.owners <> '{}',
           k.status = 'active' and 'hl7-mllp' = any (k.protocols)
             and mllp_networks(k.allowed_ips) && mllp_networks_of(p_address)
             and (k.hl7_sender_application is null or k.hl7_sender_application = p_application)
             and (k.hl7_sender_facility is null or k.hl7_sender_facility = p_facility)
             and (k.tls_subject is null or k.tls_subject = p_subject) and k.site_id = any (o.owners)
      from api_key k
     cross join (select mllp_owners(p_address, p_application, p_facility, p_subject) as owners offset 0) o
     where mllp_networks(k.allowed_ips) && mllp_networks_of(p_address)
        or (k.hl7_sender_application = p_application
            and (k.hl7_sender_facility is null or k.hl7_sender_facility = p_facility))
        or (k.hl7_sender_facility = p_facility and k.hl7_sender_application is null)
     order by k.client_id
  loop
    if is_allowed then
      keys := keys || client_id;
      if site_id <> all (sites) then sites := sites || site_id; end if;
    end if;
    state := md5(state || json_build_array(site_id, client_id, status, protocols, allowed_ips, hl7_sender_application,
      hl7_sender_facility, tls_subject, is_own, is_foreign));
    return next;
  end loop;
  perform set_config('gateway.senders', state, true);
  if cardinality(sites) = 1 then
    perform set_config('gateway.site', sites[1]::text, true), set_config('gateway.keys', keys::text, true);
  end if;
end $$;
