-- The change feed of a site: each version of a resource gets one number, in the order of commits. The history of versions is its
-- outbox (resource.written_by), so a write does nothing for it (change_number).

create table change_position (
  site_id uuid primary key references site,
  -- Each version with this time or a later one gets a number.
  started_at timestamptz(3) not null,
  -- The versions with a lower written_by have their numbers.
  below bigint not null,
  last_number bigint not null default 0,
  -- The latest time of the numbered versions.
  reached timestamptz(3) not null,
  -- The numbers that most subscriptions have compared (subscription_match), and when.
  matched bigint not null default 0,
  matched_at timestamptz not null default clock_timestamp(),
  -- Another value for each subscription that joins those without their own number (subscription_match).
  members uuid not null default gen_random_uuid()
);
select table_of_site('change_position');
grant select, insert, update on change_position to gateway_app;

-- Numbers have no gaps. The content is that of the version, which an erasure deletes: then only the id remains.
create table change (
  site_id uuid not null references site,
  number bigint not null,
  type text not null,
  id uuid not null,
  -- Null: the resource was erased.
  version integer,
  -- The latest time of the versions up to this number. It never falls, so a time is found by halving the numbers.
  reached timestamptz(3) not null,
  primary key (site_id, number)
);
select table_of_site('change');
grant select, insert on change to gateway_app;

-- Erased resources (patient_erase), which have no version any more. They are numbered as versions are.
create table resource_erased (
  site_id uuid not null references site,
  type text not null,
  id uuid not null,
  patient_id uuid,
  erased_at timestamptz(3) not null,
  written_by bigint not null,
  primary key (site_id, type, id)
);
create index resource_erased_written_by on resource_erased (site_id, written_by);
select table_of_site('resource_erased');
grant select on resource_erased to gateway_app;

-- Subscriptions of API keys (Subscriptions R5 Backport IG 1.1): notifications about changed resources of one type.
create table subscription (
  site_id uuid not null,
  subscription_id uuid not null,
  client_id text not null,
  type text not null,
  -- A search without its type, such as code=x; '' for every resource of the type.
  filter text not null,
  payload text not null check (payload in ('id-only', 'full-resource')),
  endpoint text not null,
  -- The host of the endpoint, one of the key's subscription hosts.
  host text not null,
  -- The receiver's own headers, sealed (edge/http/receiver-headers.ts).
  headers text,
  reason text not null,
  heartbeat_seconds integer,
  -- Events of one notification.
  max_count integer not null,
  ends_at timestamptz(3),
  -- Only versions after this time; null: every version with a number above the first `matched`.
  since timestamptz(3),
  -- requested: the endpoint has not accepted a notification yet. Nothing is posted while it is `off` or `error`.
  status text not null default 'requested' check (status in ('requested', 'active', 'error', 'off')),
  -- The numbers of the change feed that were compared with the filter, and when. Null: as far as change_position.matched.
  matched bigint,
  matched_at timestamptz not null default clock_timestamp(),
  -- Its events have the numbers 1 to last_event. Those up to `delivered` were accepted.
  last_event bigint not null default 0,
  delivered bigint not null default 0,
  -- Failed posts since the last accepted post.
  attempts integer not null default 0,
  failing_since timestamptz,
  next_at timestamptz not null default clock_timestamp(),
  lease uuid,
  lease_until timestamptz,
  -- An HTTP status, or a code of the gateway.
  last_answer text,
  tried_at timestamptz,
  delivered_at timestamptz,
  -- When it was saved, resumed or sent again: it may be behind for some time after that.
  restarted_at timestamptz not null default clock_timestamp(),
  -- Posts since it was created.
  accepted bigint not null default 0,
  failed bigint not null default 0,
  version integer not null default 1,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (site_id, subscription_id),
  foreign key (site_id, client_id) references api_key
);
create index subscription_of_key on subscription (site_id, client_id, subscription_id);
create index subscription_matched on subscription (site_id, matched) where matched is not null;
select table_of_site('subscription');
grant select, insert, update, delete on subscription to gateway_app;

-- The events of a subscription: a row has the numbers of the changes for the events up to last_event (subscription_match).
create table subscription_event (
  site_id uuid not null,
  subscription_id uuid not null,
  last_event bigint not null,
  numbers bigint[] not null,
  primary key (site_id, subscription_id, last_event),
  foreign key (site_id, subscription_id) references subscription on delete cascade
);
select table_of_site('subscription_event');
grant select, insert, update on subscription_event to gateway_app;

-- Accepted events by quarters of an hour, of two days (subscription_tried).
create table subscription_usage (
  site_id uuid not null,
  subscription_id uuid not null,
  bucket timestamptz not null,
  events bigint not null,
  primary key (site_id, subscription_id, bucket),
  foreign key (site_id, subscription_id) references subscription on delete cascade
);
select table_of_site('subscription_usage');
grant select, insert, update, delete on subscription_usage to gateway_app;

-- Posts of deleted subscriptions: a counter of /metrics never falls.
create table subscription_deleted (
  site_id uuid primary key references site,
  accepted bigint not null,
  failed bigint not null
);
select table_of_site('subscription_deleted');
grant select, insert, update on subscription_deleted to gateway_app;
