-- FHIR resources, and beside their content what is searched of them, in the order in which pages are walked.
--
-- Indexes stand in the order in which they must be made. For a site that the statistics do not know yet the planner
-- expects one row whichever index it takes, and of equally good ones it takes the newest: so the primary key is made
-- after the indexes that hold the same columns.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- body is the validated text of the resource's members without resourceType, id and meta; meta that of the client's
-- members of meta. Both are text that was checked, never re-serialised: 1.50 comes back as 1.50.
create table resource (
  site_id uuid not null references site,
  type text not null check (type in ('Patient', 'Condition', 'AllergyIntolerance', 'Observation', 'Procedure',
    'DiagnosticReport', 'DocumentReference')),
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  patient_id uuid,
  patient_type text generated always as (case when patient_id is null then null else 'Patient' end) stored
);
create index resource_of_patient on resource (site_id, patient_id, type, id) where patient_id is not null;
create index resource_last_updated on resource (site_id, type, last_updated, id);
alter table resource
  add primary key (site_id, type, id),
  add foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id);

-- The versions before the current one.
create table resource_history (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  primary key (site_id, type, id, version),
  foreign key (site_id, type, id) references resource
);

-- What is searched is extracted when it is written: narrow tables beside the content. A system that is absent is ''.
-- In the keys the id stands before the system, so that the resources with one code or identifier value come out of the
-- index in page order, whatever their system; codes and values that several systems share are rare. The index for look-ups
-- by id begins with it, so that it is never taken for another search.
create table resource_identifier (
  site_id uuid not null,
  type text not null,
  value text not null,
  system text not null,
  id uuid not null,
  foreign key (site_id, type, id) references resource
);
create index resource_identifier_system on resource_identifier (site_id, type, system, id);
alter table resource_identifier add primary key (site_id, type, value, id, system);
create index resource_identifier_of on resource_identifier (id, site_id, type);

create table resource_token (
  site_id uuid not null,
  type text not null,
  param text not null,
  code text not null,
  system text not null,
  id uuid not null,
  foreign key (site_id, type, id) references resource
);
create index resource_token_system on resource_token (site_id, type, param, system, id);
alter table resource_token add primary key (site_id, type, param, code, id, system);
create index resource_token_of on resource_token (id, site_id, type);

-- names: every text, given and family, case and accents folded, one a line; name_sort: the first name, folded. Folded
-- text is compared byte by byte: the same order and the same speed under every locale. birth_date: '' stands for an absent
-- one, so that a page cursor can compare rows.
create table patient_search (
  site_id uuid not null,
  id uuid not null,
  type text generated always as ('Patient') stored,
  names text collate "C" not null,
  name_sort text collate "C" not null,
  birth_date text collate "C" not null,
  gender text,
  foreign key (site_id, type, id) references resource (site_id, type, id)
);
create index patient_search_gender on patient_search (site_id, gender, id);
-- A search must not have to read a list of pending entries first.
create index patient_search_names on patient_search using gin (site_id, names gin_trgm_ops) with (fastupdate = off);
create index patient_search_name_sort on patient_search (site_id, name_sort, id);
create index patient_search_birth_date on patient_search (site_id, birth_date, id);
alter table patient_search add primary key (site_id, id);

-- The internal reports behind DiagnosticReport: a report belongs to a study, a study to a patient.
create table study (
  site_id uuid not null references site,
  study_id uuid not null,
  patient_id uuid,
  patient_type text generated always as (case when patient_id is null then null else 'Patient' end) stored,
  accession text,
  primary key (site_id, study_id),
  foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id)
);
create unique index study_accession on study (site_id, patient_id, accession) nulls not distinct
  where accession is not null;
create index study_of_patient on study (site_id, patient_id);

create table report (
  site_id uuid not null,
  report_id uuid not null,
  type text generated always as ('DiagnosticReport') stored,
  study_id uuid not null,
  state text not null check (state in ('draft', 'completed')),
  foreign key (site_id, type, report_id) references resource (site_id, type, id),
  foreign key (site_id, study_id) references study
);
create index report_of_study on report (site_id, study_id, report_id);
create index report_state on report (site_id, state, report_id);
alter table report add primary key (site_id, report_id);
