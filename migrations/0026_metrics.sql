-- What /metrics tells (edge/README.md, Metrics): totals that only grow, and when each key sent its last message.

-- Not sums over `usage`, whose old rows go: a counter that falls is read as one that began anew.
create table usage_total (
  site_id uuid not null references site,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  outcome text not null check (outcome in ('ok', 'refused', 'failed')),
  duration_ms bigint not null,
  -- As usage.latency; its sum is the number of requests.
  latency bigint[] not null,
  primary key (site_id, surface, outcome)
);

create table answer_total (
  site_id uuid not null references site,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  -- An HTTP status, an ACK's MSA-1, or `token` for one that was issued: few, whatever is sent.
  answer text not null check (answer ~ '^(?:[1-5][0-9]{2}|A[AER]|token)$'),
  answers bigint not null,
  primary key (site_id, surface, answer)
);

-- When a key sent its last message that was answered with an ACK, by which way.
create table feed (
  site_id uuid not null,
  client_id text not null,
  surface text not null check (surface in ('hl7', 'mllp')),
  last_at timestamptz not null,
  primary key (site_id, client_id, surface),
  foreign key (site_id, client_id) references api_key
);

-- Written behind the answers, for several sites at once, by a function that acts for the owner.
select table_of_site(t::regclass) from unnest(array['usage_total', 'answer_total', 'feed']) t;
grant select on feed to gateway_app;
drop function if exists usage_add(json);
