-- Adds issues for an administrator to review: p_rows is [{ kind, patients: [uuid], about, detail }], with up to two
-- patients of the site. An issue that is listed already, open or dismissed, stays as it is. p_message: null if no
-- message showed the issue.
create or replace function attention_add(p_site uuid, p_message uuid, p_rows json) returns void language plpgsql as $$
begin
  insert into attention (site_id, kind, patient_a, patient_b, about, message_id, detail)
    select p_site, x.kind, least(p.a, p.b), case when p.a <> p.b then greatest(p.a, p.b) end, coalesce(x.about, ''),
           p_message, coalesce(x.detail, '{}')
      from json_to_recordset(coalesce(p_rows, '[]')) as x(kind text, patients json, about text, detail json)
     cross join lateral (select (x.patients ->> 0)::uuid as a, (x.patients ->> 1)::uuid as b) p
    on conflict do nothing;
end $$;
