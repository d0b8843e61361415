-- Family and given names of patients, each a row, so that those who have one that begins so are read from the index without
-- a look at anybody else, and in a moment are known to be few or many (edge/store/search/page-ids.ts). As in
-- patient_search.families and givens; of longer ones the beginning, since an index entry is bounded.
-- Without a foreign key: to check it for each row would cost as much as all else of the patient's search. One function writes
-- rows, with those of patient_search (search_index_write), and one erases both.
create table patient_name (
  site_id uuid not null,
  part text not null check (part in ('family', 'given')),
  name text collate "C" not null,
  -- The patient.
  id uuid not null,
  primary key (site_id, part, name, id)
);
select table_of_site('patient_name');
grant select, insert, delete on patient_name to gateway_app;
insert into patient_name (site_id, part, name, id)
  select s.site_id, n.part, left(n.name, 200), s.id
    from patient_search s
   cross join lateral (
     select 'family' as part, string_to_table(s.families, E'\n') as name
     union all select 'given', string_to_table(s.givens, E'\n')) n
   where n.name <> ''
  on conflict do nothing;
