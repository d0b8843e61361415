-- What a key and its site say about whom messages are about, what is refused, and what names mean. The defaults are those
-- of a key and a site that say nothing (edge/README.md, Administration).

alter table api_key
  -- Namespace or URI that issued the numbers that name no issuer; null: MSH-4.
  add hl7_default_authority text,
  add hl7_identity_check text not null default 'refuse-results'
    check (hl7_identity_check in ('warn', 'refuse-results', 'refuse')),
  add hl7_strict boolean not null default false,
  add hl7_unsupported_types text not null default 'refuse' check (hl7_unsupported_types in ('refuse', 'keep')),
  add hl7_accept_ack boolean not null default false,
  add hl7_information boolean not null default true;

alter table site
  -- Local coding system (CWE.3) to its URI.
  add code_systems jsonb not null default '{}',
  -- Types (CX.5, in capitals) of numbers that identify a patient here, besides those that do everywhere.
  add identifying_types text[] not null default '{}',
  -- Values of identifiers that stand for no number.
  add placeholders text[] not null default '{}',
  -- Birth dates that stand for an unknown one, YYYY-MM-DD.
  add placeholder_birth_dates text[] not null default '{}',
  -- Race and ethnicity (PID-10, PID-22) become US Core extensions.
  add us_core boolean not null default false;
