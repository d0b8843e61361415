-- Settings of a site are changed by its administrators: a version, so that of two who edit one the second is told, and
-- the history of the changes.

alter table site
  add version integer not null default 1,
  add updated_at timestamptz not null default now();

create table site_change (
  site_id uuid not null references site,
  version integer not null,
  at timestamptz not null default now(),
  by text not null,
  before json,
  after json not null,
  primary key (site_id, version)
);
