-- Of whom a date is: what a patient had at a time is found by both, however much there is of the patient and of the time.
alter table resource_date add column patient_id uuid;
update resource_date d set patient_id = r.patient_id
  from resource r
 where r.site_id = d.site_id and r.type = d.type and r.id = d.id and r.patient_id is not null;
create index resource_date_of_patient on resource_date (site_id, patient_id, type, param, before_at, from_at, id)
  where patient_id is not null;
