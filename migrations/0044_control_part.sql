-- A part of a control id, without the site: of a site with half of all messages, its list was most of what was read. Control
-- ids are seldom alike in two sites, and what is another's is passed by.
drop index hl7_message_control_part;
create index hl7_message_control_part on hl7_message using gin (lower(control_id) gin_trgm_ops)
  with (fastupdate = on, gin_pending_list_limit = 256);
