-- What is looked up by key stays so however much there is.

-- Each message is looked for among those of its sender. Where the planner expects one row of either index it took this one,
-- and read all that the sender ever sent: so it is only for those who ask for a key by this condition (message-search.ts).
drop index hl7_message_of_key;
create index hl7_message_of_key on hl7_message (site_id, client_id, received_at desc, message_id desc) where client_id <> '';

-- Behind a policy an index serves neither `@>` nor `&&` (README.md, Rights): whom an access concerned is looked for here.
create view audit_here as
  select * from audit where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on audit_here to gateway_app;

-- Bundles by what they did (audit.parts), of which there are few combinations: those that did something rare are found
-- without passing by all others.
create index audit_bundles on audit (site_id, parts, at, audit_id) where action in ('batch', 'transaction');
