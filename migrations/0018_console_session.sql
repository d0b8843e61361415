-- Who is signed in to the console. A row is a session that may still be used: whatever ends one deletes its row, and what
-- is over by time is forgotten when the next of the site begins.
create table console_session (
  site_id uuid not null references site,
  session_id uuid not null,
  -- At the OpenID provider: who, by name and subject, and the session there (OpenID Connect Back-Channel Logout 1.0 §2.1).
  subject text not null,
  name text not null,
  provider_session text,
  -- From where.
  source_address text not null,
  user_agent text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- What the provider said of permissions, when it last did, and until when somebody is asking it anew.
  permissions text[] not null,
  asked_at timestamptz not null default now(),
  asking_until timestamptz,
  -- The provider's tokens, sealed by the edge: what permissions are asked anew with, and what tells it who signs out.
  refresh_token text,
  id_token text,
  primary key (site_id, session_id)
);
create index console_session_subject on console_session (subject);
create index console_session_provider on console_session (provider_session);

grant select, insert, update, delete on console_session to gateway_app;
