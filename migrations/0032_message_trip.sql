-- hl7_known says of each row by what it is told again, and hl7_take takes a message by that, in one round trip.
drop function if exists hl7_store(uuid, json, bytea, bytea, text[], text[], text[], text, json);
drop function if exists hl7_found(uuid, text[], text[], text[]);
