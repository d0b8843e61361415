-- What messages are found by (edge/README.md, Administration): numbers and names of their patients, and what was wrong
-- with them. Written with the message, also with one that is refused, and forgotten with its bytes (hl7_messages_forget).

-- key: '#' and a number as numbers are compared; a word of a name, folded; '!' and the reason of an error or a warning
-- (edge/store/message-key.ts). Equal keys stand in the order in which messages are listed.
-- Without a foreign key: to check it for each row would cost a message as much as all else of this. One function writes
-- rows, with their message (hl7_take), and one forgets them with it.
create table hl7_message_key (
  site_id uuid not null,
  key text collate "C" not null,
  -- That of the message.
  received_at timestamptz not null,
  message_id uuid not null,
  -- Its place among the rows of its message.
  number integer not null,
  -- Where it stands: PID-3.
  field text not null,
  -- The number as it was sent; all words of the name, a space before and after each; severity and code of the error.
  value text not null,
  -- Of a number, as it was sent, namespace and universal id with an ampersand between them; else ''.
  authority text not null,
  primary key (site_id, key, received_at, message_id, number)
);
create index hl7_message_key_of on hl7_message_key (site_id, message_id);
select table_of_site('hl7_message_key');
grant select, insert, delete on hl7_message_key to gateway_app;

-- A part of a control id, in any case. Messages are stored far more often than looked for: new entries wait in a list,
-- which is kept short so that nobody waits long where it is emptied.
create index hl7_message_control_part on hl7_message using gin (site_id, lower(control_id) gin_trgm_ops)
  with (fastupdate = on, gin_pending_list_limit = 256);
drop index hl7_message_control_id;
create view hl7_message_here as
  select * from hl7_message where site_id = nullif(current_setting('gateway.site', true), '')::uuid;
grant select on hl7_message_here to gateway_app;

-- The newest of a key, and the newest that were refused, however few they are.
create index hl7_message_of_key on hl7_message (site_id, client_id, received_at desc, message_id desc);
create index hl7_message_refused_received on hl7_message (site_id, received_at desc, message_id desc) where outcome <> 'AA';

-- From the receipt to the answer, in milliseconds; null where nobody measured.
alter table hl7_attempt add column took_ms integer;
