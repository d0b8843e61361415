-- Sites, their settings, their API keys, and the source addresses that an operator assigned to them.
--
-- Every table of a site's data has site_id first in its primary key, and its foreign keys are composite. So a row of one site
-- cannot refer to a row of another site, even if the code is wrong.

-- Row security of a site's table: the application sees only the rows of the site that the first statement of its batch named
-- (gateway.site). Without a named site it sees no rows. A statement that forgets its `where` reaches no other site.
-- The planner expects that the table has only one site. So the plan of a statement without the site's value (edge/store/sql.ts) is the
-- same before and after the statistics contain a site. A page is read in its order, not sorted.
create function table_of_site(p_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', p_table);
  execute format('create policy of_site on %s to gateway_app using (site_id = nullif(current_setting(%L, true), %L)::uuid)',
    p_table, 'gateway.site', '');
  execute format('alter table %s alter column site_id set (n_distinct = 1)', p_table);
end $$;
revoke execute on function table_of_site(regclass) from public;

-- A code whose values TypeScript lists, so that a new value needs no migration. Here and below, hot tables have domains instead of
-- checks of one column, and policies for inserts instead of checks of several columns. PostgreSQL parses a table's check for each
-- insert, which costs 6 µs. It parses the check of a domain once a connection, and that of a policy with the statement.
create domain listed_code as text check (value ~ '^[a-z0-9-]{1,40}$');

create table site (
  site_id uuid primary key,
  name text not null,
  -- IANA name, for HL7 times without an offset.
  time_zone text,
  -- HL7 namespace (HD.1) to identifier system.
  assigning_authorities jsonb not null default '{}',
  default_charset text,
  processing_ids text[] not null default '{P}',
  created_at timestamptz not null default now(),
  -- Counts the changes, so that the second of two concurrent edits is rejected.
  version integer not null default 1,
  updated_at timestamptz not null default now(),
  -- Local coding system (CWE.3) to its URI.
  code_systems jsonb not null default '{}',
  -- Type codes (CX.5, in capitals) that identify a patient at this site, besides those that do at every site.
  identifying_types text[] not null default '{}',
  -- Identifier values that are placeholders.
  placeholders text[] not null default '{}',
  -- Birth dates that stand for an unknown one, YYYY-MM-DD.
  placeholder_birth_dates text[] not null default '{}',
  -- Race and ethnicity (PID-10, PID-22) become US Core extensions.
  us_core boolean not null default false,
  -- Raw messages and their ACKs.
  keep_messages_days integer not null default 400 check (keep_messages_days between 30 and 36500),
  -- Rejected requests, and attempts at messages except those that answer a resent message.
  keep_attempts_days integer not null default 90 check (keep_attempts_days between 7 and 36500),
  keep_usage_days integer not null default 400 check (keep_usage_days between 1 and 36500),
  -- audit_minimum_age is a lower bound.
  keep_audit_days integer not null default 2190 check (keep_audit_days between 365 and 36500),
  -- Nothing is deleted by age, and no patient is erased.
  legal_hold boolean not null default false,
  -- The URL to which alerts are posted; null: only the console shows them.
  alert_webhook text,
  -- A larger share of rejected and failed requests raises an alert; null: no share does.
  alert_error_percent integer default 25 check (alert_error_percent between 1 and 100)
);
select table_of_site('site');
-- An operator makes sites.
grant select, update on site to gateway_app;

create table site_change (
  site_id uuid not null references site,
  version integer not null,
  at timestamptz not null default now(),
  by text not null,
  before json,
  after json not null,
  primary key (site_id, version)
);
select table_of_site('site_change');
grant select, insert on site_change to gateway_app;

create table api_key (
  site_id uuid not null references site,
  client_id text not null unique check (client_id ~ '^svc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  name text not null check (name <> ''),
  status text not null check (status in ('active', 'disabled')),
  jwks_uri text,
  jwks text,
  token_ttl_seconds integer not null check (token_ttl_seconds between 60 and 3600),
  allowed_scopes text[] not null default '{}',
  allowed_audiences text[] not null default '{}',
  patient_match boolean not null default false,
  -- The hosts to which subscriptions of the key may post; none: the key has no subscriptions.
  subscription_hosts text[] not null default '{}',
  protocols text[] not null default '{fhir}',
  allowed_ips text[] not null default '{}',
  hl7_sender_application text,
  hl7_sender_facility text,
  -- Null: the site's setting.
  hl7_time_zone text,
  hl7_default_charset text,
  hl7_processing_ids text[],
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Assigning authority, a namespace or a URI, of identifiers that name none; null: MSH-4.
  hl7_default_authority text,
  hl7_identity_check listed_code not null default 'refuse-results',
  hl7_strict boolean not null default false,
  hl7_unsupported_types listed_code not null default 'refuse',
  hl7_accept_ack boolean not null default false,
  hl7_information boolean not null default true,
  tls_subject text,
  -- A key that sends no message for so long, in these hours and days of the site's time zone, is silent; null: never.
  silent_after_minutes integer check (silent_after_minutes between 5 and 10080),
  silent_hours text,
  silent_days text[] not null default '{}',
  contact text,
  notes text,
  primary key (site_id, client_id),
  check ((jwks_uri is null) <> (jwks is null))
);
create index api_key_mllp on api_key (client_id) where status = 'active' and 'hl7-mllp' = any (protocols);
create index api_key_listed on api_key (site_id, created_at desc, client_id desc);

-- Allowed IPs as networks, `::/0` for every address. PostgreSQL distinguishes IPv4 and IPv6, the gateway does not. An
-- IPv4-mapped network (RFC 4291 §2.5.5.2) is converted to IPv4, and a network that contains all of IPv4 to `::/0`. Other texts
-- are left out.
create function mllp_networks(p_allowed_ips text[]) returns cidr[]
language sql immutable cost 5000 as $$
  select coalesce(array_agg(
           case when a = '*' or '::ffff:0.0.0.0/96'::inet <<= a::inet then '::/0'::cidr
                when a::inet << '::ffff:0.0.0.0/96'::inet
                then network(set_masklen(substr(host(a::inet), 8)::inet, masklen(a::inet) - 96))
                else network(a::inet) end), '{}')
    from unnest(p_allowed_ips) a where a = '*' or pg_input_is_valid(a, 'inet')
$$;

-- The candidates for a message's API key; edge/hl7/ingest/sender/select-key.ts decides. Keys seldom change and are looked up for each
-- message, so there is no list of pending entries.
create index api_key_allowed_networks on api_key using gin (mllp_networks(allowed_ips)) with (fastupdate = off);
create index api_key_sender_application on api_key (hl7_sender_application);
create index api_key_sender_facility on api_key (hl7_sender_facility);
select table_of_site('api_key');
grant select, insert, update on api_key to gateway_app;

-- RFC 7638 thumbprints of inline JWKS: a public key belongs to one client.
create table api_key_thumbprint (
  thumbprint text primary key,
  site_id uuid not null,
  client_id text not null,
  foreign key (site_id, client_id) references api_key
);
select table_of_site('api_key_thumbprint');
-- Only functions with the owner's rights use it: they compare keys of all sites.

create table api_key_change (
  site_id uuid not null,
  client_id text not null,
  version integer not null,
  at timestamptz not null default now(),
  by text not null,
  before json,
  after json not null,
  primary key (site_id, client_id, version),
  foreign key (site_id, client_id) references api_key
);
select table_of_site('api_key_change');
grant select, insert on api_key_change to gateway_app;

-- Links with which an integrator checks messages and sees the refusals of one key, without a token. Staff create them.
create table key_link (
  site_id uuid not null,
  link_id uuid not null,
  client_id text not null,
  -- The hash of the secret, base64url. The secret itself is shown once.
  secret_sha256 text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_by text,
  primary key (site_id, link_id),
  foreign key (site_id, client_id) references api_key,
  check (expires_at <= created_at + interval '7 days'),
  check ((revoked_at is null) = (revoked_by is null))
);
create index key_link_listed on key_link (site_id, client_id, created_at desc);
select table_of_site('key_link');
grant select, insert, update (revoked_at, revoked_by), delete on key_link to gateway_app;

-- The public keys that a client signs with, so that an unused one can be removed. Written behind the answers for several
-- sites at once, by a function with the owner's rights.
create table key_kid (
  site_id uuid not null,
  client_id text not null,
  -- As the JWK has it, shortened; empty for a key without a kid.
  kid text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (site_id, client_id, kid),
  foreign key (site_id, client_id) references api_key
);
select table_of_site('key_kid');
grant select on key_kid to gateway_app;

-- A range as a network of IPv6 addresses, IPv4 as IPv4-mapped (RFC 4291 §2.5.5.2), so that both families compare. Null for any
-- other text.
create function mllp_network(p_range text) returns cidr
language sql immutable as $$
  select case when r = '*' then '::/0'::cidr
              when not pg_input_is_valid(r, 'inet') then null
              when family(r::inet) = 4
              then network(set_masklen(('::ffff:' || host(r::inet))::inet, 96 + masklen(r::inet)))
              else network(r::inet) end
    from unnest(array[p_range]) r
$$;

-- Source addresses of MLLP, assigned to sites by the operator (edge/docs/behaviour.md, MLLP). Only the owner changes them.
create table site_address (
  site_id uuid not null references site,
  range text not null,
  network cidr generated always as (mllp_network(range)) stored check (network is not null),
  -- Only messages with this MSH-3, MSH-4 and subject of the sender's TLS certificate; '' for any.
  application text not null default '',
  facility text not null default '',
  tls_subject text not null default '',
  assigned_at timestamptz not null default now(),
  assigned_by text not null,
  primary key (site_id, range, application, facility, tls_subject)
);
create index site_address_network on site_address using gist (network inet_ops);
select table_of_site('site_address');
grant select on site_address to gateway_app;
