-- What administrators go through: names without a URI, and the order of what they should look at.

-- What messages called by a name of the hospital's own that nobody has given a URI: who issued a number (HD.1), and which
-- coding system a code is of (CWE.3). A row for each message, so that messages do not wait for each other at a counter,
-- and those concerned are found when the name has got its URI. Processed again, a message leaves its rows or gets others.
create table unnamed_name (
  site_id uuid not null,
  kind text not null check (kind in ('authority', 'code-system')),
  -- In capitals: names compare without case.
  name text not null check (name <> ''),
  message_id uuid not null,
  primary key (site_id, kind, name, message_id),
  foreign key (site_id, message_id) references hl7_message
);
create index unnamed_name_of_message on unnamed_name (site_id, message_id);

-- The list of what an administrator should look at, of every kind.
create index attention_listed on attention (site_id, created_at desc, attention_id desc);
