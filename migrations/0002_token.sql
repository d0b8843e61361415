-- What the token service remembers of tokens and assertions until they expire.

create table revoked_token (
  site_id uuid not null references site,
  jti text not null,
  expires_at timestamptz not null,
  primary key (site_id, jti)
);
create index revoked_token_expiry on revoked_token (expires_at);

-- Single use of client assertions where there are no Durable Objects (Deno).
create table jti_claim (
  client_id text not null,
  jti_hash text not null,
  attempt text not null,
  expires_at timestamptz not null,
  primary key (client_id, jti_hash)
);
create index jti_claim_expiry on jti_claim (expires_at);
