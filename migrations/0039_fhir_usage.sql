-- When a key was last used for FHIR is found at once, however much else it does.
create index key_usage_fhir on key_usage (site_id, client_id, bucket) where surface = 'fhir';
