-- Sites, their API keys, and what is remembered of a key: public keys, changes, refusals.
--
-- Every table of a site's data has site_id first in its primary key, and foreign keys are composite, so that a row of one
-- site cannot point at a row of another even if the code above is wrong.

create table site (
  site_id uuid primary key,
  name text not null,
  -- IANA name; used for HL7 times that carry no offset.
  time_zone text,
  -- HL7 namespace (HD.1) to identifier system.
  assigning_authorities jsonb not null default '{}',
  default_charset text,
  processing_ids text[] not null default '{P}',
  created_at timestamptz not null default now()
);

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
  protocols text[] not null default '{fhir}',
  allowed_ips text[] not null default '{}',
  hl7_sender_application text,
  hl7_sender_facility text,
  -- What the key knows better than its site; null: the site's.
  hl7_time_zone text,
  hl7_default_charset text,
  hl7_processing_ids text[],
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (site_id, client_id),
  check ((jwks_uri is null) <> (jwks is null))
);
create index api_key_mllp on api_key (client_id) where status = 'active' and 'hl7-mllp' = any (protocols);
create index api_key_listed on api_key (site_id, created_at desc, client_id desc);

-- Which keys an MLLP message may be of, found by index however many keys there are. This only narrows: what a range
-- holds is decided by the edge (edge/hl7/sender/select-key.ts), so a key may be found here whose ranges do not hold the address.

-- Allowed IPs as networks, `::/0` for every address. PostgreSQL keeps the families apart; we do not: an IPv4-mapped
-- network (RFC 4291 §2.5.5.2) is its IPv4 network, and one that holds all of IPv4 is everything. What is no range is
-- left out.
create function mllp_networks(p_allowed_ips text[]) returns cidr[]
language sql immutable cost 5000 as $$
  select coalesce(array_agg(
           case when a = '*' or '::ffff:0.0.0.0/96'::inet <<= a::inet then '::/0'::cidr
                when a::inet << '::ffff:0.0.0.0/96'::inet
                then network(set_masklen(substr(host(a::inet), 8)::inet, masklen(a::inet) - 96))
                else network(a::inet) end), '{}')
    from unnest(p_allowed_ips) a where a = '*' or pg_input_is_valid(a, 'inet')
$$;

-- Keys are changed seldom and looked for with each message: no list of pending entries.
create index api_key_allowed_networks on api_key using gin (mllp_networks(allowed_ips)) with (fastupdate = off);
create index api_key_sender_application on api_key (hl7_sender_application);
create index api_key_sender_facility on api_key (hl7_sender_facility);

-- A public key belongs to one client: RFC 7638 thumbprints of the inline JWKS.
create table api_key_thumbprint (
  thumbprint text primary key,
  site_id uuid not null,
  client_id text not null,
  foreign key (site_id, client_id) references api_key
);

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

-- Why a token request or an MLLP message was refused, for the administrator of the key.
create table refusal (
  site_id uuid not null,
  refusal_id uuid not null,
  client_id text not null,
  surface text not null check (surface in ('token', 'mllp')),
  at timestamptz not null default now(),
  request_id text not null,
  source_address text not null,
  code text not null,
  reason text not null,
  primary key (site_id, refusal_id),
  foreign key (site_id, client_id) references api_key
);
create index refusal_of_key on refusal (site_id, client_id, refusal_id desc);
create index refusal_age on refusal (at);
