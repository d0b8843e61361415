-- What an administrator should look at: charts that may be of one person, corrections that came too late or fitted
-- nothing, moves that were not done, merges that could not be told.

-- Each thing once: the first message that showed it stays, and so does its dismissal. detail says in codes and places what
-- was found, never what a patient's record holds.
create table attention (
  site_id uuid not null references site,
  attention_id uuid not null default gen_random_uuid(),
  kind text not null check (kind in ('possible-duplicate', 'stale-correction', 'correction-unmatched', 'not-moved',
    'merge-unresolved')),
  -- Of two patients patient_a has the smaller id.
  patient_a uuid,
  patient_b uuid,
  patient_type text generated always as ('Patient') stored,
  -- What besides the patients tells it from others of its kind.
  about text not null default '',
  -- Null: no message showed it.
  message_id uuid,
  detail json not null default '{}',
  created_at timestamptz not null default now(),
  dismissed_at timestamptz,
  dismissed_by text,
  primary key (site_id, attention_id),
  unique nulls not distinct (site_id, kind, patient_a, patient_b, about),
  foreign key (site_id, patient_type, patient_a) references resource (site_id, type, id),
  foreign key (site_id, patient_type, patient_b) references resource (site_id, type, id),
  foreign key (site_id, message_id) references hl7_message,
  check (patient_b is null or patient_a < patient_b),
  check ((dismissed_at is null) = (dismissed_by is null))
);
create index attention_open on attention (site_id, kind, created_at desc, attention_id desc) where dismissed_at is null;
create index attention_of_message on attention (site_id, message_id);
