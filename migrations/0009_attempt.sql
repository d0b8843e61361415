-- What was decided about a message each time it was processed: when it came, when its sender sent it again after it had
-- been refused, when an administrator replayed it, when the gateway tried again what a fault of its own had stopped.

-- Attempt 1 is what the sender was first answered. Nothing here is ever changed; hl7_message says what holds now. Once an
-- attempt is AA, the first that is answers every retransmission.
create table hl7_attempt (
  site_id uuid not null,
  message_id uuid not null,
  number integer not null,
  at timestamptz not null default clock_timestamp(),
  why text not null check (why in ('received', 'resent', 'replayed', 'retried')),
  -- Who asked for a replay; null where nobody did.
  actor text,
  request_id text not null,
  outcome text not null check (outcome in ('AA', 'AE', 'AR')),
  -- Null where the sender asks for none.
  ack bytea,
  errors json not null default '[]',
  primary key (site_id, message_id, number),
  foreign key (site_id, message_id) references hl7_message,
  check ((why = 'replayed') = (actor is not null))
);
