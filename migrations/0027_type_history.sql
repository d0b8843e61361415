-- The history of a type is walked by time (edge/store/type-history.ts): resource_last_updated has the current versions, this
-- the others. The primary key is made after it (0003_resource.sql says why).
create index resource_history_last_updated on resource_history (site_id, type, last_updated, id, version);
alter table resource_history drop constraint resource_history_pkey, add primary key (site_id, type, id, version);
