-- The sessions of the console, and the people who have signed in.

-- A row is a session that may still be used. Every end of a session deletes its row; expired sessions are deleted when the next
-- of the site begins.
create table console_session (
  site_id uuid not null references site,
  session_id uuid not null,
  -- At the OpenID provider: subject, name, and its session (OpenID Connect Back-Channel Logout 1.0 §2.1).
  subject text not null,
  name text not null,
  provider_session text,
  source_address text not null,
  user_agent text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- The provider's last answer, its time, and until when a request has the lease to ask again.
  permissions text[] not null,
  asked_at timestamptz not null default now(),
  asking_until timestamptz,
  -- The provider's tokens, sealed by the edge: one renews the permissions, one names the person at sign-out.
  refresh_token text,
  id_token text,
  -- Permissions by site: { "site": ["permission"] }. `permissions` are those of the session's current site.
  grants jsonb not null default '{}',
  primary key (site_id, session_id)
);
create index console_session_subject on console_session (subject);
create index console_session_provider on console_session (provider_session);
select table_of_site('console_session');
grant select, insert, update, delete on console_session to gateway_app;

-- The people who have signed in to the console of a site, and the last time of each.
create table console_person (
  site_id uuid not null references site,
  -- At the OpenID provider.
  subject text not null,
  name text not null,
  -- The provider's answer at the last sign-in.
  permissions text[] not null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (site_id, subject)
);
create index console_person_seen on console_person (site_id, last_seen desc, subject);
select table_of_site('console_person');
grant select, insert, update, delete on console_person to gateway_app;
