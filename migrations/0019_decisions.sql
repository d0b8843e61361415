-- What administrators decide: which URIs that messages taught for namespaces hold, and why a message is replayed; and what is
-- found by a bare namespace.

-- Every decision about a URI that a namespace may stand for; authority_alias says the last.
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
alter table authority_alias add check ((decided_at is null) = (decided_by is null));
grant select, insert on authority_alias_decision to gateway_app;

-- Numbers of namespaces that nobody has given a URI, for whoever gives them one.
create index patient_identity_name on patient_identity (site_id, domain, value) where domain like 'name:%';

-- What an administrator says about why a message is replayed.
alter table hl7_attempt add column comment text check (comment is null or actor is not null);
-- Of the attempts that a sender makes at one message by sending it again only the first ten and the newest hundred are kept
-- (hl7_store); number goes on counting. Until now none was ever deleted.
grant delete on hl7_attempt to gateway_app;
