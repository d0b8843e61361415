-- What an operator sees of sidecars, of the staff's provider and of the keys that sign (edge/README.md, Alerts and Health).

-- How far the clock of a sidecar that was let in is behind the gateway's; negative: ahead.
alter table sidecar_seen add clock_seconds integer;

-- A sidecar that was not let in. By its clock: one whose key is known, by its name. By its key: whoever called last with a key
-- that nobody has registered, one row for all, since anybody can call.
create table sidecar_refused (
  reason text not null check (reason in ('clock', 'unknown-key')),
  name text not null,
  kid text,
  clock_seconds integer,
  source_address text not null,
  at timestamptz not null default now(),
  primary key (reason, name)
);
grant select, insert, update on sidecar_refused to gateway_app;

alter table alert drop constraint alert_kind_check;
alter table alert add constraint alert_kind_check check (kind in
  ('feed-silent', 'error-rate', 'sidecar-silent', 'provider-away', 'signing-key-old', 'jwks-uri-failing', 'replay-needed'));

grant select on signing_key_seen to gateway_app;

drop function if exists metrics_read(integer);
drop function if exists sidecar_note(text);
