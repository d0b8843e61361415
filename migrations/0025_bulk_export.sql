-- Bulk exports (FHIR Bulk Data Access 2.0.0): what was asked for, as of when, and which ids are in which file. There is no
-- content here: a file is read from the resources and their versions while it is downloaded (edge/README.md, Bulk Data).

create table bulk_export (
  site_id uuid not null,
  export_id uuid not null,
  client_id text not null,
  -- The URL that asked for it.
  request text not null,
  types text[] not null,
  -- Only what is in a patient's compartment.
  of_patients boolean not null,
  since timestamptz(3),
  -- OperationOutcomes: what was left out, and why. A line each.
  outcomes text not null,
  -- What was written before this moment is in it; that is settled when every transaction below begun_by has ended.
  taken_at timestamptz(3) not null,
  begun_by bigint not null,
  expires_at timestamptz not null,
  -- When its status was last asked for, while it was not complete.
  asked_at timestamptz not null default clock_timestamp(),
  -- The files are known of the types before this one, and of it up to this id.
  type_number integer not null default 1,
  after_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_complete boolean not null default false,
  primary key (site_id, export_id),
  foreign key (site_id, client_id) references api_key
);
create index bulk_export_of_key on bulk_export (site_id, client_id) where not is_complete;

create table bulk_export_file (
  site_id uuid not null,
  export_id uuid not null,
  type text not null,
  number integer not null,
  -- The resources behind after_id as far as upto_id; of them these alone, where they were few among many.
  after_id uuid not null,
  upto_id uuid not null,
  ids uuid[],
  resources integer not null,
  bytes bigint not null,
  primary key (site_id, export_id, type, number),
  foreign key (site_id, export_id) references bulk_export on delete cascade
);

select table_of_site(t::regclass) from unnest(array['bulk_export', 'bulk_export_file']) t;
grant select, insert, update, delete on bulk_export to gateway_app;
grant select, insert, update on bulk_export_file to gateway_app;
