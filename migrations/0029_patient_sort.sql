-- Patients by birth date and then by name: any number of them may have no birth date, so that within one the order must be the
-- index's own (edge/store/search/page-ids.ts).
create index patient_search_birth_date_name on patient_search (site_id, birth_date, name_sort, id);
