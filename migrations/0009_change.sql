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
  reached timestamptz(3) not null
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
