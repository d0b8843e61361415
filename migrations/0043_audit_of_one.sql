-- Nearly every access concerns one patient: these are listed by the patient in the order of time, so that a page of somebody's
-- audit costs the same however much there is. Those of several patients at once, pages of a search among them, keep the
-- other index, which has no order, and is spared all the rest.
drop index audit_patients;
create index audit_of_one on audit (site_id, (patients[1]), at, audit_id) where cardinality(patients) = 1;
create index audit_patients on audit using gin (patients) with (fastupdate = on, gin_pending_list_limit = 256)
  where cardinality(patients) > 1;
