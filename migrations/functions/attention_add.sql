-- Adds findings that an administrator must review.
--   - p_message: null if no message showed them.
--   - p_rows: [{ kind, patients: [uuid], about, detail }], with up to two patients of the site.
--
--   - Findings of one kind and the same patients are one issue. Without patients, `about` is its subject.
--   - A finding with the same `about` is a repetition. A pair of possible duplicates has a finding for each reason.
--   - A dismissed issue stays dismissed for a repetition, and opens again for a new finding.
--   - A repetition changes no row of the issue, so that messages do not wait for each other.
create or replace function attention_add(p_site uuid, p_message uuid, p_rows json) returns void language plpgsql
set enable_seqscan = off
as $$
declare
  v_kinds text[];
  v_as uuid[];
  v_bs uuid[];
  v_subjects text[];
  v_abouts text[];
  v_details text[];
  v_issues uuid[];
  v_new uuid[];
begin
  -- In one order, so that two messages never wait for each other.
  select array_agg(r.kind order by r.issue), array_agg(r.a order by r.issue), array_agg(r.b order by r.issue),
         array_agg(r.subject order by r.issue), array_agg(r.about order by r.issue), array_agg(r.detail order by r.issue),
         array_agg(r.issue order by r.issue)
    into v_kinds, v_as, v_bs, v_subjects, v_abouts, v_details, v_issues
    from (select x.kind, p.a, p.b, p.subject, coalesce(x.detail, '{}')::text as detail,
                 coalesce(x.about, case when x.kind = 'possible-duplicate' then x.detail ->> 'reason' end, '') as about,
                 md5(x.kind || '|' || coalesce(p.a::text, '') || '|' || coalesce(p.b::text, '') || '|' || p.subject)::uuid as issue
            from json_to_recordset(coalesce(p_rows, '[]')) as x(kind text, patients json, about text, detail json)
           cross join lateral (
             select least(i.a, i.b) as a, case when i.a <> i.b then greatest(i.a, i.b) end as b,
                    case when i.a is null then coalesce(x.about, '') else '' end as subject
               from (select (x.patients ->> 0)::uuid as a, (x.patients ->> 1)::uuid as b) i) p) r;
  if v_issues is null then return; end if;

  insert into issue (site_id, issue_id, kind, patient_a, patient_b, subject)
    select distinct on (x.issue) p_site, x.issue, x.kind, x.a, x.b, x.subject
      from unnest(v_issues, v_kinds, v_as, v_bs, v_subjects) x(issue, kind, a, b, subject)
     order by x.issue
    on conflict do nothing;
  with added as (
    insert into attention (site_id, issue_id, kind, patient_a, patient_b, about, message_id, detail)
      select p_site, x.issue, x.kind, x.a, x.b, x.about, p_message, x.detail::json
        from unnest(v_issues, v_kinds, v_as, v_bs, v_abouts, v_details) x(issue, kind, a, b, about, detail)
      on conflict do nothing
      returning issue_id)
  select array_agg(distinct a.issue_id) into v_new from added a;
  if p_message is not null then
    insert into issue_message (site_id, issue_id, message_id)
      select distinct p_site, x.issue, p_message from unnest(v_issues) x(issue)
      on conflict do nothing;
  end if;
  if v_new is null then return; end if;

  insert into issue_decision (site_id, issue_id, state)
    select i.site_id, i.issue_id, 'reopened' from issue i
     where i.site_id = p_site and i.issue_id = any (v_new) and i.dismissed_at is not null;
  update issue i set found_at = now(), dismissed_at = null, dismissed_by = null, dismissed_reason = null
   where i.site_id = p_site and i.issue_id = any (v_new) and (i.dismissed_at is not null or i.found_at <> now());
end $$;
