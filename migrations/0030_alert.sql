-- Alerts (edge/README.md, Alerts): what needs people, who was told, and what they did about it.

alter table site
  -- Where alerts are posted; null: they are shown in the console only.
  add alert_webhook text,
  -- More refused and failed requests than this are an alert; null: none are.
  add alert_error_percent integer default 25 check (alert_error_percent between 1 and 100);

alter table api_key
  -- A key that sends no message for so long, in these hours of these days of the site's zone, is silent; null: never.
  add silent_after_minutes integer check (silent_after_minutes between 5 and 10080),
  add silent_hours text,
  add silent_days text[] not null default '{}';

create table alert (
  site_id uuid not null references site,
  alert_id uuid not null,
  kind text not null
    check (kind in ('feed-silent', 'error-rate', 'sidecar-silent', 'signing-key-old', 'jwks-uri-failing', 'replay-needed')),
  -- What it is about: a Client ID, a surface, a sidecar, a kid; '' for the site.
  subject text not null,
  -- When its cause was seen, the last time that it was.
  opened_at timestamptz not null,
  -- Since when its cause has been gone; null while it is there.
  clear_since timestamptz,
  resolved_at timestamptz,
  -- How often its cause came back.
  times integer not null default 1,
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- What was posted last; '' for nothing.
  told text not null default '' check (told in ('', 'open', 'resolved')),
  told_at timestamptz,
  primary key (site_id, alert_id),
  check ((acknowledged_at is null) = (acknowledged_by is null))
);
create unique index alert_open on alert (site_id, kind, subject) where resolved_at is null;
create index alert_resolved on alert (resolved_at) where resolved_at is not null;

-- What is not posted, however often it comes.
create table alert_mute (
  site_id uuid not null references site,
  kind text not null,
  subject text not null,
  -- Null: until somebody ends it.
  until timestamptz,
  muted_at timestamptz not null default now(),
  muted_by text not null,
  primary key (site_id, kind, subject)
);

-- What is to be posted, until it was, or was given up.
create table alert_notice (
  site_id uuid not null,
  -- The receiver knows a notice that comes twice by it.
  notice_id uuid not null,
  alert_id uuid not null,
  told text not null check (told in ('open', 'resolved')),
  at timestamptz not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  -- An HTTP status, or a word of ours.
  last_answer text,
  delivered_at timestamptz,
  given_up_at timestamptz,
  primary key (site_id, notice_id),
  foreign key (site_id, alert_id) references alert on delete cascade
);
create index alert_notice_due on alert_notice (next_at) where delivered_at is null and given_up_at is null;
create index alert_notice_of on alert_notice (site_id, alert_id);

-- How old a key is whose kid does not say it.
create table signing_key_seen (
  kid text primary key,
  first_seen timestamptz not null default now()
);

select table_of_site(t::regclass) from unnest(array['alert', 'alert_mute', 'alert_notice']) t;
-- The rest is written by functions that act for the owner, for all sites at once.
grant select, update (acknowledged_at, acknowledged_by) on alert to gateway_app;
grant select, insert, update, delete on alert_mute to gateway_app;
grant select on alert_notice to gateway_app;
