-- Which of its public keys a client signs with, so that one that is replaced can be taken out when it is used no more.
create table key_kid (
  site_id uuid not null,
  client_id text not null,
  -- As the JWK has it, shortened; empty for a key without one.
  kid text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (site_id, client_id, kid),
  foreign key (site_id, client_id) references api_key
);

-- Written behind the answers, for several sites at once, by a function that acts for the owner.
select table_of_site('key_kid');
grant select on key_kid to gateway_app;
