-- Tokens, assertions and signing keys, as far as the token service stores them.

-- Written by a function with the owner's rights.
create table revoked_token (
  site_id uuid not null references site,
  jti text not null,
  expires_at timestamptz not null,
  primary key (site_id, jti)
);
create index revoked_token_expiry on revoked_token (expires_at);
select table_of_site('revoked_token');
grant select on revoked_token to gateway_app;

-- Single use of client assertions where there are no Durable Objects (Deno). Only a function with the owner's rights uses it.
create table jti_claim (
  client_id text not null,
  jti_hash text not null,
  attempt text not null,
  expires_at timestamptz not null,
  primary key (client_id, jti_hash)
);
create index jti_claim_expiry on jti_claim (expires_at);

-- Since when a signing key is known whose kid does not say when it was made.
create table signing_key_seen (
  kid text primary key,
  first_seen timestamptz not null default now()
);
grant select on signing_key_seen to gateway_app;
