-- The log of refused and failed requests, and what each key does in a quarter of an hour (edge/README.md, Administration).

-- Why requests of a key were refused or failed, over all four surfaces: one row for a reason and a quarter of an hour, so
-- that a storm is few rows. Never what was sent: codes, places and sentences of ours, of a token request what it is about.
alter table refusal rename to refusal_before;
alter table refusal_before rename constraint refusal_pkey to refusal_before_pkey;
drop index refusal_of_key, refusal_age;

create table refusal (
  site_id uuid not null,
  client_id text not null,
  -- The quarter of an hour, or when its key was changed in it: what was put right begins anew.
  since timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  -- The HTTP status, over MLLP MSA-1; empty where that was not kept.
  answer text not null check (answer ~ '^(?:[45][0-9]{2}|A[ER])?$'),
  code text not null,
  -- Empty where a code had too many in this quarter of an hour.
  reason text not null,
  reason_key uuid not null generated always as (md5(reason)::uuid) stored,
  requests bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Of the last one.
  request_id text not null,
  source_address text not null,
  primary key (site_id, client_id, since, surface, answer, code, reason_key),
  foreign key (site_id, client_id) references api_key
);
create index refusal_age on refusal (site_id, since);

insert into refusal (site_id, client_id, since, surface, answer, code, reason, requests, first_at, last_at, request_id,
    source_address)
  select site_id, client_id, date_bin('15 minutes', at, 'epoch'), surface, '', code, reason, count(*), min(at), max(at),
         (array_agg(request_id order by at desc))[1], (array_agg(source_address order by at desc))[1]
    from refusal_before group by 1, 2, 3, 4, 6, 7;
drop table refusal_before;
drop function if exists refusal_add(text, uuid, text, text, text, text, text);
drop function if exists usage_note(json, json, json);

-- A sender is a key and what it calls itself, MSH-3 and MSH-4 as the messages have them.
alter table feed
  add application text not null default '',
  add facility text not null default '',
  add first_at timestamptz not null default now(),
  drop constraint feed_pkey,
  add primary key (site_id, client_id, surface, application, facility);

-- What a key did in a quarter of an hour: of HL7 messages those that were answered, by sender.
create table key_usage (
  site_id uuid not null,
  client_id text not null,
  bucket timestamptz not null,
  surface text not null check (surface in ('token', 'fhir', 'hl7', 'mllp')),
  application text not null default '',
  facility text not null default '',
  -- AA; below 400.
  accepted bigint not null,
  -- AE; 4xx.
  refused bigint not null,
  -- AR; 5xx.
  rejected bigint not null,
  primary key (site_id, client_id, bucket, surface, application, facility),
  foreign key (site_id, client_id) references api_key
);
create index key_usage_age on key_usage (site_id, bucket);

-- Written behind the answers, for several sites at once, by functions that act for the owner.
select table_of_site(t::regclass) from unnest(array['refusal', 'key_usage']) t;
grant select on refusal, key_usage to gateway_app;
