-- The audit: a row for each access, written in the access's own transaction (functions/audit_add.sql) and never changed.
--
-- Without foreign keys: a row outlives what it is about, and a key to the site would lock the site's row for each access. Without
-- partitions: an access would fail while its partition does not exist. Rows are appended in the order of the primary key, and a
-- site's oldest, which are deleted first (functions/audit_forget.sql), lie together.

create domain audit_actor_kind as text check (value in ('key', 'person', 'sidecar', 'operator', 'gateway'));

-- An accessed item: a resource, a message, an API key and so on, and its patient. The patient is null for a Patient and for an
-- item without a patient.
create type audit_item as (action text, type text, id uuid, patient uuid);

-- `audit.minute` of a time, for searches, which may name any year.
create function audit_minute(p_at timestamptz) returns integer language sql immutable parallel safe as $$
  select least(date_part('epoch', p_at - timestamptz '2000-01-01Z') / 60, 2147483647)::integer
$$;

create table audit (
  site_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  audit_id uuid not null default gen_random_uuid(),
  -- The nearest minute of `at`, counted since 2000. A difference of times is immutable. PostgreSQL prepares this expression for each
  -- row; to call the function would cost as much as the row.
  minute integer not null generated always as ((date_part('epoch', at - timestamptz '2000-01-01Z') / 60)::integer) stored,
  -- An API key (client_id), a person (the provider's `sub`), a sidecar on behalf of a key, an operator at a machine, or the
  -- gateway.
  actor_kind audit_actor_kind not null,
  -- Null for a key and for the gateway.
  actor text,
  -- The API key that made the request, or that was created or changed.
  client_id text,
  address text,
  request_id text not null,
  action listed_code not null,
  -- For a batch or transaction: the actions of its entries. Null for another action: an empty array has 13 bytes.
  parts text[],
  -- The items that were read or written: types[n] with ids[n], each once.
  types text[] not null,
  ids uuid[] not null,
  patients uuid[] not null,
  -- For a search: the names of its parameters. Null without one.
  parameters text[],
  -- The newest version that a FHIR client's write made of ids[n], or null. Its changed elements are the difference to the version
  -- before it. Null for other accesses; hl7_message_resource has the versions that messages made.
  versions integer[],
  primary key (site_id, at, audit_id)
);
-- PostgreSQL stores equal keys of an index once, so the rows of a minute cost little beside their key. It sorts them when they are
-- read (edge/store/admin-audit.ts). Rows of one time are so few that no index has the id.
create index audit_client on audit (client_id, minute) where client_id is not null;
create index audit_action on audit (site_id, action, minute);
create index audit_actor on audit (site_id, actor, at) where actor is not null;
-- Bundles by their actions, of which there are few combinations.
create index audit_bundles on audit (site_id, parts, at) where action in ('batch', 'transaction');
-- Most accesses concern one patient. These are indexed by patient and time, so that a page of a patient's audit costs the same
-- however much there is. Accesses that concern several patients have an index without an order.
create index audit_of_one on audit ((patients[1]), at) where cardinality(patients) = 1;
-- Rows are written far more often than searched: new entries wait in a list, which is kept short so that emptying it takes little
-- time. Patient ids of two sites are never equal, so the site is checked behind the index.
create index audit_patients on audit using gin (patients) with (fastupdate = on, gin_pending_list_limit = 256)
  where cardinality(patients) > 1;
select table_of_site('audit');
create policy audit_row on audit as restrictive for insert to gateway_app
  with check ((actor is null) = (actor_kind in ('key', 'gateway')) and cardinality(types) = cardinality(ids)
    and (versions is null or cardinality(versions) = cardinality(ids)));
grant select, insert on audit to gateway_app;

-- Behind a policy an index serves neither `@>` nor `&&` (0003_resource.sql, patient_search_here).
create view audit_here as
  select * from audit where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on audit_here to gateway_app;

-- How old a row must be before it may be deleted: six years, or what the law of the place demands. Only the owner changes it.
create table audit_minimum_age (
  only_row boolean primary key default true check (only_row),
  days integer not null check (days >= 365)
);
insert into audit_minimum_age (days) values (2190);
