-- FHIR resources, and beside their content what searches need, in the order in which pages are walked.
--
-- The order of the indexes matters. For a site without statistics the planner expects one row from every index, and prefers the
-- newest of equally good ones. So the primary key is created after the indexes on the same columns.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- The patient that a Patient says it was replaced by: its first Patient.link of type replaced-by. In PL/pgSQL, because PostgreSQL
-- would read the text of an SQL function for each write of a resource, to put it into the generated column.
create function patient_replaced_by(p_body text) returns uuid language plpgsql immutable as $$
begin
  return (
    select substring(e -> 'other' ->> 'reference'
             from '^Patient/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/_history/[^/]+)?$')::uuid
      from json_array_elements(('{' || p_body || '}')::json -> 'link') e
     where e ->> 'type' = 'replaced-by'
     limit 1);
end $$;

create domain resource_type as text check (value in ('Patient', 'Condition', 'AllergyIntolerance', 'Observation', 'Procedure',
  'DiagnosticReport', 'DocumentReference', 'Group'));
-- The type of a patient in a foreign key. A generated column would cost each insert 4 µs.
create domain patient_type as text check (value = 'Patient');
create domain name_part as text check (value in ('family', 'given'));
create domain report_state as text check (value in ('draft', 'completed'));

-- A write of a resource, as resource_write reads it.
create type resource_row as (type text, id uuid, mode text, expect integer[], "unmodifiedSince" timestamptz, noted text, meta text,
  body text, patient uuid, identifiers json, tokens json, dates json, search json, parts json, report json, indexed integer,
  writer text, known json, members json);

-- body is the validated text of the resource's members without resourceType, id and meta; meta is the text of the client's
-- members of meta. Both are kept as text and never serialized again, so that 1.50 stays 1.50.
create table resource (
  site_id uuid not null references site,
  type resource_type not null,
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  patient_id uuid,
  patient_type text generated always as (case when patient_id is null then null else 'Patient' end) stored,
  replaced_by uuid generated always as (
    case when type = 'Patient' and body like '%"replaced-by"%' then patient_replaced_by(body) end) stored,
  -- The id of the transaction that wrote this version, but at least that of the version before, which may have got its id later.
  -- So in the order of this column each version follows the one before (change_number).
  written_by bigint not null default pg_current_xact_id()::text::bigint
);
create index resource_written_by on resource (site_id, written_by);
create index resource_of_patient on resource (site_id, patient_id, type, id) where patient_id is not null;
create index resource_last_updated on resource (site_id, type, last_updated, id);
alter table resource
  add primary key (site_id, type, id),
  add foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id);
create index resource_replaced_by on resource (site_id, replaced_by) where replaced_by is not null;
select table_of_site('resource');
-- Clinical content is never deleted by the application, and an earlier version never changes.
grant select, insert, update on resource to gateway_app;

-- The versions before the current one.
create table resource_history (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  -- The patient that this version was about; the current version may be about another.
  patient_id uuid,
  -- As of resource.
  written_by bigint not null,
  foreign key (site_id, type, id) references resource
);
create index resource_history_written_by on resource_history (site_id, written_by);
-- The history of a type is walked by time (edge/store/type-history.ts).
create index resource_history_last_updated on resource_history (site_id, type, last_updated, id, version);
alter table resource_history add primary key (site_id, type, id, version);
select table_of_site('resource_history');
grant select, insert on resource_history to gateway_app;

-- The large documents of HL7 messages (edge/hl7/ingest/cut-documents.ts). A document is stored once in a site. A body has
-- "data":["hash",size] instead of "data":"base64", which no resource contains; document_fill puts the base64 back.
create table document (
  site_id uuid not null references site,
  -- The SHA-256 of the base64 text, as base64url.
  sha256 text collate "C" not null,
  -- The decoded bytes.
  content bytea not null,
  primary key (site_id, sha256)
);
-- Scans are compressed already.
alter table document alter column content set storage external;
select table_of_site('document');
grant select, insert on document to gateway_app;

-- The messages (type Hl7Message) and resources that need a document. A resource has a row if any of its versions needs it.
create table document_use (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  sha256 text collate "C" not null,
  primary key (site_id, type, id, sha256),
  foreign key (site_id, sha256) references document
);
create index document_use_of on document_use (site_id, sha256);
select table_of_site('document_use');
grant select, insert on document_use to gateway_app;

-- Search values are extracted when a resource is written, into narrow tables beside the content. An absent system is ''. In the
-- primary keys the id precedes the system, so that the resources with one code or value leave the index in page order. Few
-- codes and values are used by several systems. The indexes of systems are partial, so that PostgreSQL uses them only for a
-- search by system alone (edge/store/search/compare.ts). The index for look-ups by id begins with the id, so that the planner never
-- uses it for another search. It also has the site. With the id alone, the planner reads the ids of all sites for a page in their
-- order.
--
-- These tables have no foreign key: its check for each row costs as much as the rest of the row. `search_index_write` writes the
-- rows while its caller has the resource's row locked, and patient_erase deletes both.
create table resource_identifier (
  site_id uuid not null,
  type text not null,
  value text not null,
  system text not null,
  id uuid not null
);
create index resource_identifier_system on resource_identifier (site_id, type, system, id) where (system <> '') is true;
alter table resource_identifier add primary key (site_id, type, value, id, system);
create index resource_identifier_of on resource_identifier (id, site_id);
select table_of_site('resource_identifier');
grant select, insert, update, delete on resource_identifier to gateway_app;

-- Codes, and with the parameter 'missing' the parameters that a resource has no value of. The keys are those of token_key: an index
-- of the texts is twice as large. They contain the type. 0: without a system.
create table resource_token (
  site_id uuid not null,
  id uuid not null,
  code_key bigint not null,
  system_key bigint not null
);
create index resource_token_system on resource_token (site_id, system_key, id) where (system_key <> 0) is true;
alter table resource_token add primary key (site_id, code_key, id, system_key);
create index resource_token_of on resource_token (id, site_id);
select table_of_site('resource_token');
grant select, insert, update, delete on resource_token to gateway_app;

-- Dates as intervals, for US Core's searches.
create table resource_date (
  site_id uuid not null,
  id uuid not null,
  -- [from_at, before_at), unbounded where a Period is. A time without a zone is stored as if it were UTC and marked as local.
  -- The site's time zone, which may change, determines its instant.
  from_at timestamptz(3) not null,
  before_at timestamptz(3) not null,
  from_is_local boolean not null,
  before_is_local boolean not null,
  -- The type and the parameter (functions/date_key.sql). As texts they would have 16 bytes more in each index.
  date_key smallint not null,
  -- So that a patient's resources of a time are found by one index.
  patient_id uuid
);
-- Everything since a time, and everything until a time.
create index resource_date_before on resource_date (site_id, date_key, before_at, id);
create index resource_date_from on resource_date (site_id, date_key, from_at, id);
alter table resource_date add primary key (site_id, date_key, id);
create index resource_date_of_patient on resource_date (site_id, patient_id, date_key, before_at, from_at, id)
  where patient_id is not null;
select table_of_site('resource_date');
grant select, insert, update, delete on resource_date to gateway_app;

-- Folded text (case and accents) is compared byte by byte: the same order and the same speed in every locale.
create table patient_search (
  site_id uuid not null,
  id uuid not null,
  type patient_type not null default 'Patient',
  -- Every text, given and family name, folded, one a line.
  names text collate "C" not null,
  -- The first name, folded.
  name_sort text collate "C" not null,
  -- '' for an absent one, so that a page cursor can compare rows.
  birth_date text collate "C" not null,
  gender text,
  -- Folded as in names, with a line break before and after each.
  families text collate "C" not null default '',
  givens text collate "C" not null default '',
  -- Every text (T), family (F) and given (G) name as it was sent, with that letter before it.
  exact text collate "C" not null default ''
);
create index patient_search_gender on patient_search (site_id, gender, id);
-- Without a list of pending entries, which each search would have to read first. PostgreSQL looks for the first column first, and
-- then for the second only among what has all trigrams. In the other order it looked up the site for each patient with the rarest
-- trigram, which took most of the time of a search.
create index patient_search_names on patient_search using gin (names gin_trgm_ops, site_id) with (fastupdate = off);
create index patient_search_name_sort on patient_search (site_id, name_sort, id);
create index patient_search_birth_date on patient_search (site_id, birth_date, id);
alter table patient_search add primary key (site_id, id);
-- Any number of patients may have no birth date, so the order among them must be the index's own (edge/store/search/page-ids.ts).
create index patient_search_birth_date_name on patient_search (site_id, birth_date, name_sort, id);
select table_of_site('patient_search');
grant select, insert, update, delete on patient_search to gateway_app;

-- Behind a policy an index serves a condition only if the operator is leakproof. `like` is not, so searches by name read this
-- view, which has the same rows as the policy lets through.
create view patient_search_here as
  select * from patient_search where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on patient_search_here to gateway_app;

-- The family and given names of patient_search, one per row. The index alone finds and counts names with a common beginning
-- (edge/store/search/page-ids.ts). Long names are shortened, because an index entry is bounded.
-- `search_index_write` writes the rows together with those of patient_search.
create table patient_name (
  site_id uuid not null,
  part name_part not null,
  name text collate "C" not null,
  -- The patient.
  id uuid not null,
  primary key (site_id, part, name, id)
);
select table_of_site('patient_name');
grant select, insert, delete on patient_name to gateway_app;

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
select table_of_site('study');
grant select, insert, update, delete on study to gateway_app;

create table report (
  site_id uuid not null,
  report_id uuid not null,
  type text generated always as ('DiagnosticReport') stored,
  study_id uuid not null,
  state report_state not null,
  foreign key (site_id, type, report_id) references resource (site_id, type, id),
  foreign key (site_id, study_id) references study
);
create index report_of_study on report (study_id, report_id);
create index report_state on report (site_id, state, report_id);
alter table report add primary key (site_id, report_id);
select table_of_site('report');
grant select, insert, update, delete on report to gateway_app;

-- Sites of which some resources were written by a release that did not write every search value of this one. A site without a
-- row is complete.
create table search_behind (
  site_id uuid primary key references site,
  -- The parameters up to this generation are complete (edge/store/search/parameters.ts).
  generation integer not null,
  -- The generation that a reindexing works on; null: none, or an older release has written since it began.
  filling integer
);
select table_of_site('search_behind');
grant select, insert, update, delete on search_behind to gateway_app;
