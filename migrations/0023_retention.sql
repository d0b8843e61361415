-- How long is kept what is no part of the record of a patient (edge/README.md, Time, retention and background work). A
-- site decides: the law that a hospital keeps is that of its place, and a gateway has hospitals of several.
alter table site
  -- The bytes of messages, and what was answered.
  add keep_messages_days integer not null default 400 check (keep_messages_days between 30 and 36500),
  -- Attempts at messages, save those that a sender must be answered by, and refusals.
  add keep_attempts_days integer not null default 90 check (keep_attempts_days between 7 and 36500),
  add keep_usage_days integer not null default 400 check (keep_usage_days between 1 and 36500),
  -- What is younger than audit_minimum_age stays in any case.
  add keep_audit_days integer not null default 2190 check (keep_audit_days between 365 and 36500),
  -- Nothing is forgotten, and no patient erased.
  add legal_hold boolean not null default false;

-- Null: forgotten. The row of a message that was accepted stays, so that the same bytes are known when they come again.
alter table hl7_message alter raw drop not null;

-- What is old is found without passing by what was forgotten, and without an entry for each message that was processed once.
create index hl7_message_kept on hl7_message (site_id, received_at, message_id) where raw is not null;
create index hl7_attempt_again on hl7_attempt (site_id, at) where number > 1;
drop index refusal_age;
create index refusal_age on refusal (site_id, at);
drop index usage_age;
