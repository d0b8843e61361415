-- Replays that an administrator wants although newer data exist, replays of many messages, and the messages that a fault of
-- the gateway kept back.

alter table hl7_attempt drop constraint hl7_attempt_why_check;
alter table hl7_attempt add constraint hl7_attempt_why_check
  check (why in ('received', 'resent', 'replayed', 'forced', 'retried'));
alter table hl7_attempt drop constraint hl7_attempt_check;
alter table hl7_attempt add constraint hl7_attempt_check
  check ((why in ('replayed', 'forced')) = (actor is not null));
-- The job that asked for it, which may be forgotten by now. It has one attempt at a message.
alter table hl7_attempt add column job_id uuid;
create unique index hl7_attempt_of_job on hl7_attempt (site_id, job_id, message_id) where job_id is not null;

-- The last attempt failed by a fault of the gateway.
alter table hl7_message add column has_failed boolean not null default false;
create index hl7_message_failed on hl7_message (site_id, message_id) where has_failed;
