-- Who saw or changed what: a row for each access, written in its transaction (functions/audit_add.sql), never changed.
--
-- Without foreign keys: a row outlives what it tells of, and a key to the site would lock the site's row for each access.
-- Without partitions: an access whose partition nobody has made would fail. Rows are appended in the order of the primary
-- key, and the oldest of a site, which are deleted first (functions/audit_forget.sql), lie together.
create table audit (
  site_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  audit_id uuid not null default gen_random_uuid(),
  -- Who: an API key, which is client_id and has no other name; one of the staff by the provider's `sub`; a sidecar for a
  -- key; an operator at a machine; the gateway by itself.
  actor_kind text not null check (actor_kind in ('key', 'person', 'sidecar', 'operator', 'gateway')),
  actor text check ((actor is null) = (actor_kind in ('key', 'gateway'))),
  -- The API key that asked, or that was made or changed.
  client_id text,
  address text,
  request_id text not null,
  action text not null check (action ~ '^[a-z-]{1,40}$'),
  -- Of a batch or transaction: what its entries did.
  parts text[] not null,
  -- What was read or written: types[n] with ids[n], each once.
  types text[] not null,
  ids uuid[] not null check (cardinality(types) = cardinality(ids)),
  patients uuid[] not null,
  -- Of a search: the names of its parameters.
  parameters text[] not null,
  primary key (site_id, at, audit_id)
);
create index audit_client on audit (site_id, client_id, at, audit_id) where client_id is not null;
create index audit_actor on audit (site_id, actor, at, audit_id) where actor is not null;
create index audit_action on audit (site_id, action, at, audit_id);
-- Rows are written far more often than a patient's are looked for: new entries wait in a list, which is kept short so
-- that nobody waits long where it is emptied. Ids of two sites never meet but by intent, so the site is checked behind it.
create index audit_patients on audit using gin (patients) with (fastupdate = on, gin_pending_list_limit = 256);

-- How old a row must be to be deleted: six years, or what the law of the place demands. The owner's alone to change.
create table audit_minimum_age (
  only_row boolean primary key default true check (only_row),
  days integer not null check (days >= 365)
);
insert into audit_minimum_age (days) values (2190);

-- The patient whom a version was about, for whoever reads it when the current one is about another.
alter table resource_history add column patient_id uuid;
update resource_history set patient_id = substring(
  ('{' || body || '}')::json -> case type when 'AllergyIntolerance' then 'patient' else 'subject' end ->> 'reference'
  from '^Patient/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|$)')::uuid
 where type <> 'Patient';
