-- Which Observation or DiagnosticReport the segments of a message stand for.

-- What tells a result from the patient's others: what was observed (what), the numbers of its order (either finds it; who
-- gave them out is in numbers), when it was collected (a minute or a day in UTC, '' for unknown), and among those that are
-- equal in all this their order (place). edge/hl7/results reads and writes it, and decides.
create table hl7_result (
  site_id uuid not null,
  type text not null check (type in ('Observation', 'DiagnosticReport')),
  id uuid not null,
  patient_id uuid not null,
  patient_type text generated always as ('Patient') stored,
  what text not null,
  filler text not null,
  placer text not null,
  at text not null,
  place integer not null,
  numbers text not null,
  primary key (site_id, type, id),
  foreign key (site_id, type, id) references resource (site_id, type, id),
  foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id)
);
-- Two messages at once that both find nothing cannot both file a result.
create unique index hl7_result_key on hl7_result (site_id, patient_id, type,
  md5(what || '|' || filler || '|' || placer || '|' || numbers), at, place);
create index hl7_result_filler on hl7_result (site_id, patient_id, type, what, filler, at);
create index hl7_result_placer on hl7_result (site_id, patient_id, type, what, placer, at) where placer <> '';
