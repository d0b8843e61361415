-- What the application may do. It connects by a login of the operator's (README.md, Deploy) that is a member of
-- gateway_app, and owns nothing: what it may change is granted here, table by table, and what makes and drops tables is the
-- owner's, who migrates.

-- Settings and keys are changed; their histories are only added to.
grant select, insert, update on site, api_key to gateway_app;
grant select, insert on site_change, api_key_change to gateway_app;
-- What is forgotten in time is locked first, which takes the right to change it.
grant select, insert, delete on api_key_thumbprint to gateway_app;
grant select, insert, update, delete on refusal, revoked_token, jti_claim to gateway_app;

-- What it did itself is on record, and stays so.
grant select, insert on audit to gateway_app;

-- Clinical content is never deleted, and a version that was is never changed.
grant select, insert, update on resource to gateway_app;
grant select, insert on resource_history to gateway_app;
grant select, insert, update, delete on resource_identifier, resource_token, patient_search, patient_identity, study, report
  to gateway_app;
grant select, insert on patient_trait to gateway_app;

-- Of a message what was decided changes, never the bytes that came.
grant select, insert, update (outcome, ack, errors, has_failed) on hl7_message to gateway_app;
grant select, insert on hl7_attempt to gateway_app;
grant select, insert, update on hl7_message_resource, hl7_identity, hl7_order, authority_alias to gateway_app;
grant select, insert, update, delete on hl7_result to gateway_app;
grant select, insert, delete on unnamed_name to gateway_app;
grant select, insert, update (dismissed_at, dismissed_by) on attention to gateway_app;

grant select, insert, update, delete on usage, job to gateway_app;
grant select, insert, update on sidecar_seen to gateway_app;
