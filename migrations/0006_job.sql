-- Background work: what was asked for, how far it is, and who is at it.

-- Not in a site's key space: a job may be of one site (site_id) or of the gateway (null), and runners take both from one
-- queue. cursor holds what the next step needs to go on, never clinical data.
create table job (
  job_id uuid primary key,
  kind text not null,
  site_id uuid references site,
  -- Of the jobs of a kind and a site with one exclusive_key only one is open; null: as many as there are.
  exclusive_key text,
  state text not null default 'open' check (state in ('open', 'done', 'failed', 'stopped')),
  cursor json not null,
  -- In the unit of the kind; total is null where nobody knows.
  progress_done bigint not null default 0,
  progress_total bigint,
  -- Of the current step, since it last succeeded.
  attempts integer not null default 0,
  run_after timestamptz not null default now(),
  -- A new uuid for each step; a runner that finds another has lost the job.
  lease uuid,
  lease_until timestamptz,
  -- A code of ours or an SQLSTATE, never a text that could repeat what was refused.
  last_error text,
  asked_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((state = 'open') = (ended_at is null)),
  check (state = 'open' or lease is null)
);
create unique index job_exclusive on job (kind, site_id, exclusive_key) nulls not distinct
  where state = 'open' and exclusive_key is not null;
create index job_due on job (run_after, job_id) where state = 'open';
create index job_ended on job (ended_at) where state <> 'open';
create index job_of_site on job (site_id, job_id);
