-- Code tables of a site: codes that senders use, with codes of other coding systems that are added beside them (edge/docs/senders.md).

create table code_table (
  site_id uuid not null references site,
  table_id uuid not null,
  name text not null,
  -- The version that messages are read by; null for none.
  live integer,
  -- The version that can still be edited. Lower versions never change.
  draft integer not null default 1,
  -- Identifies the rows of the draft.
  content uuid not null default gen_random_uuid(),
  -- Counts the changes of the table, so that a draft becomes live only as its reader saw it.
  edits integer not null default 0,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (site_id, table_id),
  unique (site_id, name),
  check (live < draft)
);
select table_of_site('code_table');
grant select, insert, update (name, live, draft, content, edits), delete on code_table to gateway_app;

-- A content is what one import brought, with later changes: a row is in the versions since <= version < until. So a change of few
-- rows costs few rows, and an import of all becomes the draft at once. A foreign key would be checked for each of 100,000 rows.
create table code_table_row (
  site_id uuid not null,
  table_id uuid not null,
  content uuid not null,
  -- As `sourceSystem` (edge/store/coding-systems.ts) writes it.
  system text not null,
  code text not null,
  -- MSH-3 and MSH-4 of the sender that the row is for; '' for any.
  application text not null,
  facility text not null,
  -- '' for a code without a target.
  target_system text not null,
  target_code text not null,
  display text not null,
  -- A code of FHIR's concept-map-equivalence.
  equivalence text not null,
  since integer not null,
  until integer,
  row_key uuid generated always as (
    md5(application || chr(10) || facility || chr(10) || target_system || chr(10) || target_code)::uuid) stored,
  primary key (site_id, table_id, content, system, code, row_key, since)
);
select table_of_site('code_table_row');
grant select, insert, update (until), delete on code_table_row to gateway_app;

-- Contents that are in no version: the parts of an import that is not complete yet. A table has one import at a time.
-- Contents with part 0 wait until code_tables_forget deletes their rows. Their table may be deleted, so there is no foreign key.
create table code_table_import (
  site_id uuid not null references site,
  table_id uuid not null,
  content uuid not null,
  part integer not null,
  -- The number of parts, and the rows of this one.
  parts integer not null,
  rows integer not null,
  at timestamptz not null default now(),
  primary key (site_id, table_id, content, part)
);
select table_of_site('code_table_import');
grant select, insert, delete on code_table_import to gateway_app;

-- The versions that were live.
create table code_table_version (
  site_id uuid not null,
  table_id uuid not null,
  version integer not null,
  content uuid not null,
  primary key (site_id, table_id, version),
  foreign key (site_id, table_id) references code_table
);
select table_of_site('code_table_version');
grant select, insert, delete on code_table_version to gateway_app;

-- The steps that made a version live, with the person; version is null if the table was switched off.
create table code_table_release (
  site_id uuid not null,
  table_id uuid not null,
  number integer not null,
  version integer,
  at timestamptz not null default now(),
  by text not null,
  comment text not null,
  primary key (site_id, table_id, number),
  foreign key (site_id, table_id) references code_table
);
select table_of_site('code_table_release');
grant select, insert, delete on code_table_release to gateway_app;

-- Codes of messages without a row in the live tables, of coding systems that the tables have (edge/hl7/ingest/code-misses.ts).
create table code_miss (
  site_id uuid not null references site,
  system text not null,
  code text not null,
  -- The newest text of a sender for it; '' without one.
  text text not null,
  -- MSH-3 and MSH-4 of the newest message.
  application text not null,
  facility text not null,
  messages bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (site_id, system, code)
);
select table_of_site('code_miss');
grant select, insert, update, delete on code_miss to gateway_app;

-- The live versions: [{ id, version, content, systems }]. They are in the site's row, whose state each message compares anyway
-- (hl7_settings_state). So a new version counts from the next message on, and a site without tables pays nothing.
alter table site add column code_tables jsonb not null default '[]';
