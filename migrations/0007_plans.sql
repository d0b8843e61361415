-- Plans of the functions that store. Their statements are look-ups by key and inserts: planning one anew for each call,
-- which PostgreSQL prefers, costs several times what running it does. A plan that is kept must not be one for the few
-- rows that a table had when it was made, so scans of whole tables are ruled out.
alter function hl7_match(uuid, text[], text[], text[]) set plan_cache_mode = force_generic_plan;
alter function hl7_match(uuid, text[], text[], text[]) set enable_seqscan = off;
alter function hl7_store(uuid, json, bytea, bytea, text[], text[], text[], text, json)
  set plan_cache_mode = force_generic_plan;
alter function hl7_store(uuid, json, bytea, bytea, text[], text[], text[], text, json) set enable_seqscan = off;
alter function resource_write(uuid, json) set plan_cache_mode = force_generic_plan;
alter function resource_write(uuid, json) set enable_seqscan = off;
