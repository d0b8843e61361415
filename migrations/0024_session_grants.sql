-- What the OpenID provider said somebody may do, by site: { "site": ["permission"] }. `permissions` are those at the site
-- that the session is at.
alter table console_session add column grants jsonb not null default '{}';
