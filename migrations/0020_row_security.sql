-- Which rows the application sees: those of the site that the first statement of its batch has named (gateway.site), and
-- without one none. So a statement that forgets its `where` reaches nobody else's (edge/README.md, Second wall).

-- Every table of a site's data says so in the migration that makes it: `select table_of_site('t')`, and grants what the
-- application may do (README.md, Rights). The owner, who migrates, sees all.
create function table_of_site(p_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', p_table);
  execute format('create policy of_site on %s to gateway_app using (site_id = nullif(current_setting(%L, true), %L)::uuid)',
    p_table, 'gateway.site', '');
end $$;
revoke execute on function table_of_site(regclass) from public;

select table_of_site(t::regclass) from unnest(array[
  'site', 'site_change', 'api_key', 'api_key_change', 'api_key_thumbprint', 'refusal', 'revoked_token', 'usage',
  'console_session',
  'resource', 'resource_history', 'resource_identifier', 'resource_token', 'patient_search', 'patient_identity',
  'patient_trait', 'study', 'report',
  'hl7_message', 'hl7_attempt', 'hl7_message_resource', 'hl7_identity', 'hl7_result', 'hl7_order', 'authority_alias',
  'authority_alias_decision',   'unnamed_name', 'attention', 'audit']) t;

-- A job may be of no site; those are seen where no site was named.
alter table job enable row level security;
create policy of_site on job to gateway_app
  using (site_id is not distinct from nullif(current_setting('gateway.site', true), '')::uuid);

-- An index serves a condition behind a policy only if its operator is leakproof, which `like` is not, and so it could not
-- find names: searches read this instead, which has the same rows.
create view patient_search_here as
  select * from patient_search where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on patient_search_here to gateway_app;

-- Sites are made by the operator. The rest is written by functions that act for the owner, since it is written for several
-- sites at once, or before the site is known.
revoke insert on site from gateway_app;
revoke insert, update, delete on refusal, revoked_token, usage from gateway_app;
revoke all on jti_claim, api_key_thumbprint from gateway_app;
