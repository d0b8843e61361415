-- What operating the gateway needs to know: how it is used, and which sidecars call.

-- Requests, for charts: counts and a histogram of latency for each quarter of an hour; nothing about whom or what.
-- latency[i] counts requests no slower than the i-th bound of edge/store/usage.ts, the last one all others.
create table usage (
  site_id uuid not null references site,
  bucket timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  outcome text not null check (outcome in ('ok', 'refused', 'failed')),
  requests bigint not null,
  latency bigint[] not null,
  primary key (site_id, bucket, surface, outcome)
);
create index usage_age on usage (bucket);

-- The MLLP sidecars that called lately; they serve every site.
create table sidecar_seen (
  issuer text primary key,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now()
);
