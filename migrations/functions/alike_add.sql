-- Lists pairs of patients that are alike as possible duplicates. It skips a pair that was ever listed. It also skips a patient
-- that was changed since it was compared, which will be compared again.
--   - p_rows: [{ a, b, version_a, version_b }], where a has the smaller id.
--   - p_limit: the most issues of one patient a. More records that are alike are hardly of one person.
create or replace function alike_add(p_site uuid, p_rows json, p_limit integer) returns void language plpgsql
set enable_seqscan = off
as $$
begin
  perform attention_add(p_site, null, json_agg(json_build_object('kind', 'possible-duplicate', 'patients',
            json_build_array(x.a, x.b), 'detail', json_build_object('reason', 'alike'))))
     from (
       select p.a, p.b, row_number() over (partition by p.a order by p.b) + (
                select count(*) from (select from issue i
                  where i.site_id = p_site and i.patient_a = p.a and i.kind = 'possible-duplicate' limit p_limit) l) as place
         from json_to_recordset(p_rows) as p(a uuid, b uuid, version_a integer, version_b integer)
         join resource one on one.site_id = p_site and one.type = 'Patient' and one.id = p.a and one.version = p.version_a
         join resource other on other.site_id = p_site and other.type = 'Patient' and other.id = p.b and other.version = p.version_b
        where not exists (select from issue i where i.site_id = p_site and i.patient_a = p.a and i.patient_b = p.b
                             and i.kind = 'possible-duplicate')) x
    where x.place <= p_limit
   having count(*) > 0;
end $$;
