-- By which numbers a patient is known, what the chart has ever said of the person, and what namespaces stand for.

-- An identifier is a pair of domain and value; one pair may be of several patients, since a FHIR client is never refused
-- for it. domain: a URI, or 'name:' and the namespace in capitals that nobody has given one (edge/store/patient-identity.ts).
create table patient_identity (
  site_id uuid not null,
  value text not null,
  domain text not null,
  id uuid not null,
  -- Code of table 0203; '' without one.
  number_type text not null,
  type text generated always as ('Patient') stored,
  -- It led a PID-3, or a FHIR client wrote it; else a message only listed it.
  led boolean not null,
  -- Nobody said of which domain it is.
  is_assumed boolean not null,
  -- A message said so: a FHIR client's write that keeps the value does not take it away.
  is_taught boolean not null,
  primary key (site_id, value, domain, id, number_type),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);
create index patient_identity_of on patient_identity (id, site_id);

-- Grows only: what a late message says of a person is compared with all that the chart has said.
create table patient_trait (
  site_id uuid not null,
  id uuid not null,
  trait text not null,
  type text generated always as ('Patient') stored,
  primary key (site_id, id, trait),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);

-- Which URI a namespace stands for in the messages of one key, because they sent both (taught), or because charts suggest
-- it (shown). Of a namespace one URI is used: the first that was taught, until an administrator decides.
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
  foreign key (site_id, first_message) references hl7_message
);
create unique index authority_alias_used on authority_alias (site_id, client_id, namespace)
  where state in ('taught', 'confirmed');
