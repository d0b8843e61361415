-- HL7 v2 messages: their bytes, their answers, and the keys by which they are found.
--
-- In these tables and in resource_date ids and times come first: behind a text PostgreSQL fills up to seven bytes before a time.

create domain hl7_outcome as text check (value in ('AA', 'AE', 'AR'));
create domain hl7_source as text check (value in ('http', 'mllp'));
create domain hl7_attempt_reason as text check (value in ('received', 'resent', 'replayed', 'forced', 'retried'));
create domain unmapped_kind as text check (value in ('authority', 'code-system'));

-- The answers and the request ids are in hl7_attempt.
create table hl7_message (
  site_id uuid not null,
  message_id uuid not null,
  received_at timestamptz not null default now(),
  client_id text not null,
  source hl7_source not null,
  source_address text not null,
  sending_application text not null,
  sending_facility text not null,
  control_id text not null,
  sha256 text not null,
  message_type text not null,
  -- Null: deleted by age. The row of an accepted message stays, so that the same bytes are recognized when they come again.
  -- A token stands for each large document (edge/hl7/ingest/cut-documents.ts) if document_use has rows of the message.
  raw bytea,
  -- The decision, even if the sender asked for no ACK.
  outcome hl7_outcome not null,
  errors json not null default '[]',
  -- The last attempt failed by a fault of the gateway.
  has_failed boolean not null default false,
  -- The subject of the sender's TLS certificate; null without a certificate.
  tls_subject text,
  -- When `raw` was deleted.
  forgotten_at timestamptz,
  foreign key (site_id, client_id) references api_key
);
-- The newest are listed first, but the index ascends: at its end PostgreSQL fills each page, at its beginning half of it.
-- Few messages have one time, so the indexes by time have no id: PostgreSQL sorts those few.
create index hl7_message_received on hl7_message (site_id, received_at);
create index hl7_message_failed on hl7_message (site_id, message_id) where has_failed;
-- A replay first counts a site's rejected messages, which are few among all.
create index hl7_message_refused on hl7_message (site_id, outcome, message_id) where outcome <> 'AA';
-- Old messages are found without reading those whose bytes are already deleted.
create index hl7_message_kept on hl7_message (site_id, received_at) where raw is not null;
-- A part of a control id, in any case. Messages are stored far more often than searched, so new entries wait in a list. The
-- list is short, so that emptying it does not delay a message for long. The site is last as in patient_search_names.
create index hl7_message_control_part on hl7_message using gin (lower(control_id) gin_trgm_ops, site_id)
  with (fastupdate = on, gin_pending_list_limit = 256);
create index hl7_message_refused_received on hl7_message (site_id, received_at, message_id) where outcome <> 'AA';
-- Only a query that repeats this condition uses the index (edge/store/message-candidates.ts). Without it the planner also
-- used it to find a message among those of its sender, and read every message of the sender.
create index hl7_message_of_key on hl7_message (client_id, received_at) where client_id <> '';
-- After the other indexes, and the second without the site (0003_resource.sql). Until a new database had statistics, each message
-- read all others for its look-ups and foreign keys.
alter table hl7_message add primary key (site_id, message_id);
alter table hl7_message add constraint hl7_message_sent
  unique (client_id, sending_application, sending_facility, control_id, sha256);
select table_of_site('hl7_message');
-- The decision about a message may change, its bytes never.
grant select, insert, update (outcome, errors, has_failed) on hl7_message to gateway_app;

-- Behind a policy the index of control ids would not be used (0003_resource.sql, patient_search_here).
create view hl7_message_here as
  select * from hl7_message where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on hl7_message_here to gateway_app;

-- The decision of each time that a message was processed. Attempt 1 is the first answer to the sender. The first attempt with
-- AA answers every later copy of the message; hl7_message contains the decision that counts now.
create table hl7_attempt (
  site_id uuid not null,
  message_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  number integer not null,
  -- From receipt to answer; null where it was not measured.
  took_ms integer,
  -- The version of the key's rules by which the message was read; null without rules.
  rules_version integer,
  why hl7_attempt_reason not null,
  -- The person who asked for a replay.
  actor text,
  request_id text not null,
  outcome hl7_outcome not null,
  -- Null where the sender asked for none.
  ack bytea,
  errors json not null default '[]',
  -- The job that asked for it, which may be deleted by now. A job makes one attempt at a message.
  job_id uuid,
  -- Why an administrator replays the message.
  comment text,
  primary key (site_id, message_id, number),
  foreign key (site_id, message_id) references hl7_message
);
create unique index hl7_attempt_of_job on hl7_attempt (site_id, job_id, message_id) where job_id is not null;
create index hl7_attempt_again on hl7_attempt (site_id, at) where number > 1;
-- One request id may have many: a batch, or a proxy that gives all requests one id.
create index hl7_attempt_request on hl7_attempt (site_id, request_id, at);
select table_of_site('hl7_attempt');
-- A replay has an actor, and only a replay a comment.
create policy hl7_attempt_actor on hl7_attempt as restrictive for insert to gateway_app
  with check ((why in ('replayed', 'forced')) = (actor is not null) and (comment is null or actor is not null));
-- If a sender sends one message again and again, the first ten attempts and the newest hundred are stored.
grant select, insert, delete on hl7_attempt to gateway_app;

-- The resources that a message touched. `meta.source` does not identify the writer of a version: a FHIR client returns it with
-- its update, and a merge leaves it unchanged.
--
-- There is no foreign key to the resource: its check for each row costs as much as the rest of the row. `hl7_store` and `hl7_merge`
-- write the rows while they have the resource's row locked, and patient_erase deletes both.
create table hl7_message_resource (
  site_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  version integer not null,
  type text not null,
  -- The message wrote this version; false: the resource already said what the message says, and stayed at this version.
  is_written boolean not null,
  -- The members of the resource that this version changed, with the fields that state them:
  -- 'name PID-5 PID-9,birthDate PID-7'. A change without a field has the event, MSH-9.
  elements text not null default '',
  primary key (message_id, type, id, version, site_id),
  foreign key (site_id, message_id) references hl7_message
);
create index hl7_message_resource_of on hl7_message_resource (id);
select table_of_site('hl7_message_resource');
grant select, insert on hl7_message_resource to gateway_app;

-- The keys by which messages are found: identifiers and names of their patients, and their errors and warnings. They are
-- written with every message, even a rejected one, and deleted with its bytes (hl7_messages_forget).
-- `key` is one of these (edge/store/message-key.ts):
-- - '#' and an identifier value as values are compared
-- - a folded word of a name
-- - '!' and the reason of an error or a warning
--
-- Equal keys have the order in which messages are listed.
-- There is no foreign key: its check for each row costs as much as the rest of this table. `hl7_store` writes rows with their
-- message, and one function deletes both.
create table hl7_message_key (
  site_id uuid not null,
  message_id uuid not null,
  -- As in hl7_message.
  received_at timestamptz not null,
  -- The position among the rows of its message.
  number integer not null,
  key text collate "C" not null,
  -- The field of the value, such as PID-3.
  field text not null,
  -- The identifier as it was sent; all words of the name, with a space before and after each; severity and code of the error.
  value text not null,
  -- For an identifier, as it was sent: namespace and universal id, joined by an ampersand; else ''.
  authority text not null,
  primary key (site_id, key, received_at, message_id, number)
);
-- The message first, since the planner takes an index that begins with the site for any key, in a site without statistics.
create index hl7_message_key_of on hl7_message_key (message_id, site_id);
select table_of_site('hl7_message_key');
grant select, insert, delete on hl7_message_key to gateway_app;

-- Names in messages that have no URI yet: assigning authorities (HD.1) and coding systems (CWE.3). Each message has its row:
-- messages do not wait for each other at a counter, and are found when the name gets its URI. Processing a message again
-- replaces its rows.
create table unmapped_name (
  site_id uuid not null,
  kind unmapped_kind not null,
  -- In capitals: names compare without case.
  name text not null check (name <> ''),
  message_id uuid not null,
  primary key (site_id, kind, name, message_id),
  foreign key (site_id, message_id) references hl7_message
);
create index unmapped_name_of_message on unmapped_name (site_id, message_id);
select table_of_site('unmapped_name');
grant select, insert, delete on unmapped_name to gateway_app;

-- Issues that an administrator must decide or review: one row for each cause, a kind with its patients or with its subject.
create table issue (
  site_id uuid not null references site,
  -- Computed from kind, patients and subject (attention_add), so that each cause has one row.
  issue_id uuid not null,
  kind listed_code not null,
  -- With two patients, patient_a has the smaller id.
  patient_a uuid,
  patient_b uuid,
  patient_type patient_type not null default 'Patient',
  -- The namespace of an issue that has no patient; else ''.
  subject text not null default '',
  -- When something new was found of it. A repetition is not new.
  found_at timestamptz not null default now(),
  dismissed_at timestamptz,
  dismissed_by text,
  dismissed_reason text,
  primary key (site_id, issue_id),
  foreign key (site_id, patient_type, patient_a) references resource (site_id, type, id),
  foreign key (site_id, patient_type, patient_b) references resource (site_id, type, id),
  check (patient_b is null or patient_a < patient_b),
  check (num_nulls(dismissed_at, dismissed_by, dismissed_reason) in (0, 3))
);
create index issue_open on issue (site_id, kind, found_at desc, issue_id desc) where dismissed_at is null;
create index issue_listed on issue (site_id, found_at desc, issue_id desc);
create index issue_of_a on issue (site_id, patient_a, patient_b) where patient_a is not null;
create index issue_of_b on issue (site_id, patient_b) where patient_b is not null;
select table_of_site('issue');
grant select, insert, update (found_at, dismissed_at, dismissed_by, dismissed_reason) on issue to gateway_app;

-- The findings of an issue. Each is listed once, with the first message that showed it. `detail` contains codes and positions,
-- never content of a patient record.
create table attention (
  site_id uuid not null,
  issue_id uuid not null,
  -- As in issue.
  kind listed_code not null,
  patient_a uuid,
  patient_b uuid,
  -- Distinguishes the findings of an issue: 'Observation/' and an id, or a reason.
  about text not null default '',
  -- Null: no message showed it.
  message_id uuid,
  detail json not null default '{}',
  created_at timestamptz not null default now(),
  primary key (site_id, issue_id, about),
  foreign key (site_id, issue_id) references issue,
  foreign key (site_id, message_id) references hl7_message
);
create index attention_of_message on attention (site_id, message_id);
select table_of_site('attention');
grant select, insert on attention to gateway_app;

-- The messages that showed an issue. Each message has its row: messages do not wait for each other at a counter.
create table issue_message (
  site_id uuid not null,
  issue_id uuid not null,
  message_id uuid not null,
  primary key (site_id, issue_id, message_id),
  foreign key (site_id, issue_id) references issue,
  foreign key (site_id, message_id) references hl7_message
);
create index issue_message_of on issue_message (site_id, message_id);
select table_of_site('issue_message');
grant select, insert on issue_message to gateway_app;

-- Every dismissal and its undo; issue holds the last.
create table issue_decision (
  site_id uuid not null,
  issue_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  state text not null check (state in ('dismissed', 'reopened')),
  -- Null: a message showed something new of a dismissed issue.
  by text,
  reason text not null default '',
  primary key (site_id, issue_id, at),
  foreign key (site_id, issue_id) references issue
);
select table_of_site('issue_decision');
grant select, insert on issue_decision to gateway_app;

-- How far the patient records of a site are compared with records that are alike (edge/hl7/alike/job.ts).
create table alike_check (
  site_id uuid primary key references site,
  -- Compared are the records up to this position, by time and id.
  after_at timestamptz(3) not null default '-infinity',
  after_id uuid not null default '00000000-0000-0000-0000-000000000000',
  -- Compared next are the records that were written before this moment; null: none is set. It is settled once every transaction up to
  -- until_by has ended (bulk_export_begin).
  until_at timestamptz(3),
  until_by bigint,
  checked_at timestamptz not null default clock_timestamp(),
  check ((until_at is null) = (until_by is null))
);
select table_of_site('alike_check');
grant select, insert, update on alike_check to gateway_app;
