-- What a merge and a replay need.

-- The keys of who was merged away lead nowhere any more.
grant delete on hl7_identity to gateway_app;

-- A replay begins by counting the refused messages of a site, which are few among those that it has accepted.
create index hl7_message_refused on hl7_message (site_id, outcome, message_id) where outcome <> 'AA';
