-- Returns why nothing may be posted for a subscription now, or null if it may.
--   - key: its API key is not active for FHIR.
--   - scope: the key may not read the type any more.
--   - host: the key's subscription hosts do not have the host.
--   - off: it is paused, or its status is error.
create or replace function subscription_refusal(p_site uuid, p_id uuid) returns text language sql stable as $$
  select case when k.status <> 'active' or 'fhir' <> all (k.protocols)
                or k.allowed_audiences <> '{}' and 'svc-fhir' <> all (k.allowed_audiences) then 'key'
              when 'system/' || s.type || '.read' <> all (k.allowed_scopes) then 'scope'
              when s.host <> all (k.subscription_hosts) then 'host'
              when s.status in ('off', 'error') then 'off' end
    from subscription s join api_key k on k.site_id = s.site_id and k.client_id = s.client_id
   where s.site_id = p_site and s.subscription_id = p_id
$$;
