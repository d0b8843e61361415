-- Operating the gateway: background jobs, bulk exports, usage, feeds, rejected requests, sidecars and alerts.

-- Not in a site's key space: a job is of one site (site_id) or of the gateway (null), and runners take both from one queue.
create table job (
  job_id uuid primary key,
  kind text not null,
  site_id uuid references site,
  -- Only one job of a kind, site and exclusive_key is open; null: any number.
  exclusive_key text,
  state text not null default 'open' check (state in ('open', 'done', 'failed', 'stopped')),
  -- The position for the next step, never clinical data.
  cursor json not null,
  -- In the unit of the kind; total is null where it is unknown.
  progress_done bigint not null default 0,
  progress_total bigint,
  -- Attempts at the current step since the last success.
  attempts integer not null default 0,
  run_after timestamptz not null default now(),
  -- A new uuid for each step; a runner that finds another one has lost the job.
  lease uuid,
  lease_until timestamptz,
  -- A code of the gateway or an SQLSTATE, never a text that could repeat what was rejected.
  last_error text,
  asked_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((state = 'open') = (ended_at is null)),
  check (state = 'open' or lease is null)
);
create unique index job_exclusive on job (kind, site_id, exclusive_key) nulls not distinct
  where state = 'open' and exclusive_key is not null;
create index job_due on job (run_after, job_id) where state = 'open';
create index job_ended on job (ended_at) where state <> 'open';
create index job_of_site on job (site_id, job_id);
-- The jobs of the gateway are seen where no site is named.
alter table job enable row level security;
create policy of_site on job to gateway_app
  using (site_id is not distinct from nullif(current_setting('gateway.site', true), '')::uuid);
grant select, insert, update, delete on job to gateway_app;

-- Bulk exports (FHIR Bulk Data Access 2.0.0): what was asked for, as of when, and which ids are in which file. There is no content
-- here: a file is read from the resources and their versions while it is downloaded (edge/docs/behaviour.md, Bulk Data).
create table bulk_export (
  site_id uuid not null,
  export_id uuid not null,
  client_id text not null,
  -- The URL of the kick-off request.
  request text not null,
  types text[] not null,
  -- Only what is in a patient's compartment.
  of_patients boolean not null,
  since timestamptz(3),
  -- Only the members of this Group. The first step lists them in patients (bulk_export_step).
  group_id uuid,
  -- Only these patients and what is about them; null: all.
  patients uuid[],
  -- Those of patients that became members of the Group after since: all that is about them is exported, however old.
  new_patients uuid[],
  -- Searches, such as Observation?code=x. A resource of a type with searches is in a file only if it matches one of them.
  filters text[] not null,
  -- OperationOutcomes about what was left out, one a line.
  outcomes text not null,
  -- The export holds what was written before this time. That is settled when every transaction below begun_by has ended.
  snapshot_at timestamptz(3) not null,
  begun_by bigint not null,
  expires_at timestamptz not null,
  -- When its status was last requested while it was not complete.
  asked_at timestamptz not null default clock_timestamp(),
  -- The files are computed for the types before this one, and of this one up to after_id.
  type_number integer not null default 1,
  after_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_complete boolean not null default false,
  primary key (site_id, export_id),
  foreign key (site_id, client_id) references api_key
);
create index bulk_export_of_key on bulk_export (site_id, client_id) where not is_complete;
select table_of_site('bulk_export');
grant select, insert, update, delete on bulk_export to gateway_app;

create table bulk_export_file (
  site_id uuid not null,
  export_id uuid not null,
  type text not null,
  number integer not null,
  -- The resources behind after_id up to upto_id; of these only ids, where they are few among many.
  after_id uuid not null,
  upto_id uuid not null,
  ids uuid[],
  resources integer not null,
  bytes bigint not null,
  primary key (site_id, export_id, type, number),
  foreign key (site_id, export_id) references bulk_export on delete cascade
);
select table_of_site('bulk_export_file');
grant select, insert, update on bulk_export_file to gateway_app;

-- Usage, feeds and rejected requests are written behind the answers, for several sites at once, by functions with the owner's rights.

-- Requests of a quarter of an hour. latency[i] counts the requests no slower than the i-th bound of edge/store/usage.ts, the last
-- element all others.
create table usage (
  site_id uuid not null references site,
  bucket timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  outcome text not null check (outcome in ('ok', 'refused', 'failed')),
  requests bigint not null,
  latency bigint[] not null,
  primary key (site_id, bucket, surface, outcome)
);
select table_of_site('usage');
grant select on usage to gateway_app;

-- Counters of /metrics. They are not sums over `usage`, whose old rows are deleted: Prometheus reads a counter that falls as a restart.
create table usage_total (
  site_id uuid not null references site,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  outcome text not null check (outcome in ('ok', 'refused', 'failed')),
  duration_ms bigint not null,
  -- As usage.latency; its sum is the number of requests.
  latency bigint[] not null,
  primary key (site_id, surface, outcome)
);
select table_of_site('usage_total');

create table answer_total (
  site_id uuid not null references site,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  -- An HTTP status, MSA-1 of an ACK, or `token` for an issued token: a bounded set that clients cannot extend.
  answer text not null check (answer ~ '^(?:[1-5][0-9]{2}|A[AER]|token)$'),
  answers bigint not null,
  primary key (site_id, surface, answer)
);
select table_of_site('answer_total');

-- When a sender (MSH-3 and MSH-4 of a key's messages) sent its first and last message that got an ACK.
create table feed (
  site_id uuid not null,
  client_id text not null,
  surface text not null check (surface in ('hl7', 'mllp')),
  last_at timestamptz not null,
  application text not null default '',
  facility text not null default '',
  first_at timestamptz not null default now(),
  primary key (site_id, client_id, surface, application, facility),
  foreign key (site_id, client_id) references api_key
);
select table_of_site('feed');
grant select on feed to gateway_app;

-- The requests of a key in a quarter of an hour; HL7 messages are counted by sender if they were answered.
create table key_usage (
  site_id uuid not null,
  client_id text not null,
  bucket timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  application text not null default '',
  facility text not null default '',
  -- AA, or a status below 400.
  accepted bigint not null,
  -- AE, or 4xx.
  refused bigint not null,
  -- AR, or 5xx.
  rejected bigint not null,
  primary key (site_id, client_id, bucket, surface, application, facility),
  foreign key (site_id, client_id) references api_key
);
create index key_usage_age on key_usage (site_id, bucket);
-- When a key was last used for FHIR.
create index key_usage_fhir on key_usage (site_id, client_id, bucket) where surface = 'fhir';
select table_of_site('key_usage');
grant select on key_usage to gateway_app;

-- Reasons why requests of a key were rejected or failed. A row counts one reason in a quarter of an hour, so that a storm is
-- few rows. The texts are codes, positions and fixed sentences, never received content.
create table refusal (
  site_id uuid not null,
  client_id text not null,
  -- The start of the quarter of an hour, or the time at which the key was changed in it.
  since timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  -- The HTTP status, over MLLP MSA-1; empty where it was not kept.
  answer text not null check (answer ~ '^(?:[45][0-9]{2}|A[ER])?$'),
  code text not null,
  -- Empty where a code had too many reasons in this quarter of an hour.
  reason text not null,
  reason_key uuid not null generated always as (md5(reason)::uuid) stored,
  requests bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- The newest 100, the newest first: a storm of requests does not grow the row further.
  request_ids text[] not null check (cardinality(request_ids) between 1 and 100),
  -- Source address of the last request.
  source_address text not null,
  primary key (site_id, client_id, since, surface, answer, code, reason_key),
  foreign key (site_id, client_id) references api_key
);
create index refusal_age on refusal (site_id, since);
create index refusal_request on refusal using gin (site_id, request_ids)
  with (fastupdate = on, gin_pending_list_limit = 256);
select table_of_site('refusal');
grant select on refusal to gateway_app;
-- Behind a policy an index serves neither `@>` nor `&&` (0003_resource.sql, patient_search_here).
create view refusal_here as
  select * from refusal where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on refusal_here to gateway_app;

-- The MLLP sidecars that called lately; a sidecar serves every site.
create table sidecar_seen (
  issuer text primary key,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  -- How far its clock is behind the gateway's; negative: ahead.
  clock_seconds integer,
  -- As it reports them with its request for the allowed ranges.
  version text,
  connections integer,
  reported_at timestamptz
);
grant select, insert, update on sidecar_seen to gateway_app;

-- Connections of MLLP senders, as the sidecars report them (functions/mllp_connections_note.sql). A row is the open connections
-- of a source, or closed connections that were alike within a quarter of an hour.
create table mllp_connection (
  site_id uuid not null,
  client_id text not null,
  connection_id uuid not null,
  sidecar text not null,
  -- One process of the sidecar.
  run uuid not null,
  source_address text not null,
  is_tls boolean not null,
  -- The subject of the sender's certificate; empty without one.
  tls_subject text not null,
  -- `MSH-3 / MSH-4` of its messages, ten at most.
  senders text[] not null check (cardinality(senders) <= 10),
  -- False: it carried no message, and its address has sent messages for the key.
  has_sent boolean not null,
  connections integer not null,
  opened_at timestamptz not null,
  -- Null while it is open.
  closed_at timestamptz,
  reason text check ((reason is null) = (closed_at is null)),
  reported_at timestamptz not null,
  primary key (site_id, client_id, connection_id),
  foreign key (site_id, client_id) references api_key
);
create index mllp_connection_source on mllp_connection (source_address, sidecar) where has_sent;
create index mllp_connection_age on mllp_connection (sidecar, closed_at);
select table_of_site('mllp_connection');
grant select on mllp_connection to gateway_app;

-- Rejected sidecars. A known key with a wrong clock has a row by name. All callers with an unknown key share one row, since an
-- attacker could send any number of keys.
create table sidecar_refused (
  reason text not null check (reason in ('clock', 'unknown-key')),
  name text not null,
  kid text,
  clock_seconds integer,
  source_address text not null,
  at timestamptz not null default now(),
  primary key (reason, name)
);
grant select, insert, update on sidecar_refused to gateway_app;

-- Alerts (edge/docs/behaviour.md, Alerts), written by functions with the owner's rights, for all sites at once.
create table alert (
  site_id uuid not null references site,
  alert_id uuid not null,
  kind listed_code not null,
  -- A Client ID, a surface, a sidecar or a kid; '' for the site.
  subject text not null,
  -- When its cause was first seen, in the current period of the alert.
  firing_since timestamptz not null,
  -- Since when its cause has been gone; null while it lasts.
  clear_since timestamptz,
  resolved_at timestamptz,
  -- How often its cause returned.
  times integer not null default 1,
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- The state of the last notice; '' before the first.
  notified text not null default '' check (notified in ('', 'firing', 'resolved')),
  notified_at timestamptz,
  -- The numbers of its cause when it fired (edge/alert-kinds.ts).
  numbers jsonb,
  primary key (site_id, alert_id),
  check ((acknowledged_at is null) = (acknowledged_by is null))
);
create unique index alert_firing on alert (site_id, kind, subject) where resolved_at is null;
create index alert_resolved on alert (resolved_at) where resolved_at is not null;
select table_of_site('alert');
grant select, update (acknowledged_at, acknowledged_by) on alert to gateway_app;

-- Alerts that are silenced: they are not posted.
create table alert_silence (
  site_id uuid not null references site,
  kind listed_code not null,
  subject text not null,
  -- Null: until an administrator ends it.
  until timestamptz,
  silenced_at timestamptz not null default now(),
  silenced_by text not null,
  primary key (site_id, kind, subject)
);
select table_of_site('alert_silence');
grant select, insert, update, delete on alert_silence to gateway_app;

-- Notices to post, until they were posted or given up.
create table alert_notice (
  site_id uuid not null,
  -- The receiver recognizes a repeated notice by it.
  notice_id uuid not null,
  alert_id uuid not null,
  state text not null check (state in ('firing', 'resolved')),
  at timestamptz not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  -- An HTTP status, or a code of the gateway.
  last_answer text,
  delivered_at timestamptz,
  given_up_at timestamptz,
  primary key (site_id, notice_id),
  foreign key (site_id, alert_id) references alert on delete cascade
);
create index alert_notice_due on alert_notice (next_at) where delivered_at is null and given_up_at is null;
create index alert_notice_of on alert_notice (site_id, alert_id);
select table_of_site('alert_notice');
grant select on alert_notice to gateway_app;
