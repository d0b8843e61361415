-- HL7 v2: the messages as they came, what they made, and what HL7 keys stand for.

-- Which resource an HL7 key (filler order number, document number …) stands for.
create table hl7_identity (
  site_id uuid not null,
  type text not null,
  key text not null,
  id uuid not null,
  primary key (site_id, type, key),
  foreign key (site_id, type, id) references resource
);
create index hl7_identity_of on hl7_identity (site_id, type, id);

-- What each field of PID, PD1 … last gave to a patient's lists, so that the next message replaces that and nothing else.
create table hl7_contribution (
  site_id uuid not null,
  id uuid not null,
  type text generated always as ('Patient') stored,
  fields text not null,
  primary key (site_id, id),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);

create table hl7_message (
  site_id uuid not null,
  message_id uuid not null,
  client_id text not null,
  received_at timestamptz not null default now(),
  source text not null check (source in ('http', 'mllp')),
  source_address text not null,
  request_id text not null,
  sending_application text not null,
  sending_facility text not null,
  control_id text not null,
  sha256 text not null,
  message_type text not null,
  raw bytea not null,
  -- AA, AE or AR: what was decided, also where the sender asked for no ACK.
  outcome text not null check (outcome in ('AA', 'AE', 'AR')),
  ack bytea,
  errors json not null default '[]',
  primary key (site_id, message_id),
  unique (site_id, client_id, sending_application, sending_facility, control_id, sha256),
  foreign key (site_id, client_id) references api_key
);
create index hl7_message_received on hl7_message (site_id, received_at desc, message_id desc);
create index hl7_message_control_id on hl7_message (site_id, control_id);

create table hl7_message_resource (
  site_id uuid not null,
  message_id uuid not null,
  type text not null,
  id uuid not null,
  version integer not null,
  primary key (site_id, message_id, type, id),
  foreign key (site_id, message_id) references hl7_message,
  foreign key (site_id, type, id) references resource
);
create index hl7_message_resource_of on hl7_message_resource (site_id, type, id);
