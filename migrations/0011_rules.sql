-- Rules for the messages of an API key (edge/docs/senders.md, "Rules for one sender").

-- The rules that can still be edited. A key without a row has an empty draft.
create table rules_draft (
  site_id uuid not null,
  client_id text not null,
  -- As `senderRules` (edge/members/sender-rules.ts) writes them.
  rules json not null,
  -- Counts the saves and releases, so that a draft becomes live only as its reader saw it.
  edits integer not null,
  at timestamptz not null default now(),
  by text not null,
  primary key (site_id, client_id),
  foreign key (site_id, client_id) references api_key
);
select table_of_site('rules_draft');
grant select, insert, update (rules, edits, at, by) on rules_draft to gateway_app;

-- The versions that were live, from 1.
create table rules_version (
  site_id uuid not null,
  client_id text not null,
  version integer not null,
  rules json not null,
  primary key (site_id, client_id, version),
  foreign key (site_id, client_id) references api_key
);
select table_of_site('rules_version');
grant select, insert on rules_version to gateway_app;

-- The steps that made a version live, with the person; version is null if the rules were switched off.
create table rules_release (
  site_id uuid not null,
  client_id text not null,
  number integer not null,
  version integer,
  at timestamptz not null default now(),
  by text not null,
  comment text not null,
  primary key (site_id, client_id, number),
  foreign key (site_id, client_id, version) references rules_version,
  foreign key (site_id, client_id) references api_key
);
select table_of_site('rules_release');
grant select, insert on rules_release to gateway_app;

-- The live rules: { version, rules }; null for none. They are in the key's row, whose state each message compares anyway
-- (hl7_settings_state). So a release counts from the next message on, and a key without rules pays nothing. The column is
-- jsonb, because api_key_write compares rows, and json has no equality.
alter table api_key add column hl7_rules jsonb;
