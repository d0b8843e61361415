-- The references of HL7 messages: patients by identifiers, resources by HL7 keys, results by their result keys, and the
-- precedence of statements.

-- An identifier is a pair of authority and value. Several patients may have one pair, since a FHIR client is never rejected for it.
-- `authority` is a URI, or 'name:' and the namespace in capitals if it has no URI (edge/store/patient-identity.ts).
create table patient_identity (
  site_id uuid not null,
  value text not null,
  authority text not null,
  id uuid not null,
  -- Code of table 0203; '' without one.
  number_type text not null,
  type patient_type not null default 'Patient',
  -- It was the leading identifier of a PID-3, or a FHIR client wrote it; else a message only listed it.
  led boolean not null,
  -- The sender named no authority.
  is_assumed boolean not null,
  -- A message named it: a FHIR client's write that keeps the value does not remove it.
  is_taught boolean not null,
  primary key (site_id, value, authority, id, number_type),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);
create index patient_identity_of on patient_identity (id, site_id);
-- Identifiers of namespaces without a URI, for the administrator who gives them one.
create index patient_identity_name on patient_identity (site_id, authority, value) where authority like 'name:%';
select table_of_site('patient_identity');
grant select, insert, update, delete on patient_identity to gateway_app;

-- Names with birth dates that messages and clients have said of a patient (edge/store/patient-identity.ts). Rows are only added: a
-- late message is compared with all of them. The row '' says that an ADT message or a FHIR client described the patient.
create table patient_trait (
  site_id uuid not null,
  id uuid not null,
  trait text not null,
  type patient_type not null default 'Patient',
  primary key (site_id, id, trait),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);
select table_of_site('patient_trait');
-- An undone merge deletes those that it gave to the survivor.
grant select, insert, delete on patient_trait to gateway_app;

-- The merges of patients by messages, with what an administrator's undo needs and the history of versions does not have
-- (hl7_merge_keep, patient_unmerge).
create table patient_merge (
  site_id uuid not null,
  merge_id uuid not null default gen_random_uuid(),
  message_id uuid not null,
  merged uuid not null,
  survivor uuid not null,
  type text generated always as ('Patient') stored,
  merged_at timestamptz not null default now(),
  -- Keys, identifiers, traits and precedences as before the merge.
  kept json not null,
  undone_at timestamptz,
  undone_by text,
  reason text,
  -- [[type, id, version]] that the undo wrote.
  undone json,
  primary key (site_id, merge_id),
  -- The message of the merge may create the survivor later in its transaction.
  foreign key (site_id, type, merged) references resource (site_id, type, id) deferrable initially deferred,
  foreign key (site_id, type, survivor) references resource (site_id, type, id) deferrable initially deferred,
  check (num_nulls(undone_at, undone_by, reason, undone) in (0, 4))
);
create index patient_merge_listed on patient_merge (site_id, merged_at desc, merge_id desc);
create index patient_merge_of on patient_merge (site_id, merged);
create index patient_merge_into on patient_merge (site_id, survivor);
select table_of_site('patient_merge');
grant select, insert, update (undone_at, undone_by, reason, undone) on patient_merge to gateway_app;

-- The URI of a namespace in the messages of one key: the sender sent both (taught), or patient records suggest it (shown). A
-- namespace uses the URI that an administrator confirmed, else its only taught URI. With several it is contested.
create table authority_alias (
  site_id uuid not null,
  client_id text not null,
  -- In capitals.
  namespace text not null,
  uri text not null,
  state text not null check (state in ('taught', 'shown', 'confirmed', 'rejected')),
  first_message uuid not null,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  decided_by text,
  primary key (site_id, client_id, namespace, uri),
  foreign key (site_id, client_id) references api_key,
  foreign key (site_id, first_message) references hl7_message,
  check ((decided_at is null) = (decided_by is null))
);
create unique index authority_alias_confirmed on authority_alias (site_id, client_id, namespace)
  where state = 'confirmed';
select table_of_site('authority_alias');
grant select, insert, update on authority_alias to gateway_app;

-- Every decision about a URI of a namespace; authority_alias holds the last.
create table authority_alias_decision (
  site_id uuid not null,
  client_id text not null,
  namespace text not null,
  uri text not null,
  at timestamptz not null default clock_timestamp(),
  state text not null check (state in ('confirmed', 'rejected')),
  by text not null,
  primary key (site_id, client_id, namespace, uri, at),
  foreign key (site_id, client_id, namespace, uri) references authority_alias
);
select table_of_site('authority_alias_decision');
grant select, insert on authority_alias_decision to gateway_app;

-- The resource of an HL7 key (a document number, an allergy …).
create table hl7_identity (
  site_id uuid not null,
  type text not null,
  key text not null,
  id uuid not null,
  primary key (site_id, type, key),
  foreign key (site_id, type, id) references resource
);
-- Not (site_id, type, …): that would serve a look-up by key as well, and badly, while there are no statistics.
create index hl7_identity_of on hl7_identity (id, site_id);
select table_of_site('hl7_identity');
-- A merge deletes the keys of the merged patient.
grant select, insert, update, delete on hl7_identity to gateway_app;

create domain result_type as text check (value in ('Observation', 'DiagnosticReport'));

-- The result key of an Observation or a DiagnosticReport, which edge/hl7/results reads, writes and compares:
-- - `what` is the observation: its codes, OBX-4, OBX-21 and the parent of OBR-26
-- - the order numbers: either one finds it; numbers contains their assigning authorities, the second of the time, and
--   more of the parent
-- - at: when it was collected (a minute or a day in UTC, '' for unknown)
-- - place: the position among results that are equal in all this
--
-- There is no foreign key, as with hl7_precedence. The resource has one to its patient.
create table hl7_result (
  site_id uuid not null,
  type result_type not null,
  id uuid not null,
  patient_id uuid not null,
  what text not null,
  filler text not null,
  placer text not null,
  -- Ranges of it are searched, so it is compared by its characters.
  at text collate "C" not null,
  place integer not null,
  numbers text not null,
  -- The order number of the parent (OBR-29), the filler's before the placer's; '' for none.
  parent text generated always as (
    case when numbers like '%"parent":{%'
         then coalesce(nullif(numbers::json -> 'parent' ->> 'filler', ''), numbers::json -> 'parent' ->> 'placer', '')
         else '' end) stored,
  primary key (id, type, site_id)
);
-- The primary key begins with the id, and these indexes with the patient. Without statistics the planner uses any index
-- that begins with the site and the type. A look-up would then read all results of the site.
-- If two concurrent messages both find nothing, only one inserts the result.
create unique index hl7_result_key on hl7_result (patient_id, (md5(site_id::text || '|' || type || '|' || at || '|' || place::text
  || '|' || what || '|' || filler || '|' || placer || '|' || numbers)::uuid));
create index hl7_result_filler on hl7_result (patient_id, type, filler, at) where filler <> '';
create index hl7_result_placer on hl7_result (patient_id, type, placer, at) where placer <> '';
create index hl7_result_parent on hl7_result (patient_id, type, parent, at) where parent <> '';
create index hl7_result_what on hl7_result (patient_id, type, what, at) where filler = '' and placer = '';
select table_of_site('hl7_result');
grant select, insert, update, delete on hl7_result to gateway_app;

-- Precedence: which statement of which time valued each field (edge/docs/behaviour.md, HL7 v2). Every resource that a message made or
-- changed has a row, and every Patient that a FHIR client changed.
--
-- There is no foreign key, as with hl7_message_resource. A message and an erasure of its patient exclude each other (lock_patients).
create table hl7_precedence (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  -- JSON { precedence: [register, or { register: what it gave to a list }] }: edge/store/registers.ts.
  fields text not null default '{}',
  -- JSON { element: ms since the epoch }: when a FHIR client last changed that element (precedence_stamp).
  stamps text not null default '{}',
  primary key (id, type, site_id)
);
select table_of_site('hl7_precedence');
grant select, insert, update on hl7_precedence to gateway_app;
