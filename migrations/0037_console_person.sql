-- Who has signed in to the console of a site, and when they were there last: a session that has ended leaves nothing else.
create table console_person (
  site_id uuid not null references site,
  -- At the OpenID provider.
  subject text not null,
  name text not null,
  -- What the provider said that they may do, the last time that they signed in.
  permissions text[] not null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (site_id, subject)
);
create index console_person_seen on console_person (site_id, last_seen desc, subject);
select table_of_site('console_person');
grant select, insert, update, delete on console_person to gateway_app;
insert into console_person (site_id, subject, name, permissions, first_seen, last_seen)
  select distinct on (s.site_id, s.subject) s.site_id, s.subject, s.name, s.permissions, s.started_at, s.seen_at
    from console_session s order by s.site_id, s.subject, s.started_at desc;
