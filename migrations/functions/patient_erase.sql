-- Erases one person of a site: the patient, those that were merged into it, and all that is about them, with every
-- version. It also erases the messages that caused these (hl7_messages_forget). Messages without effect are erased if
-- PID-3 or MRG-1 has an identifier of the patient. References and links in other patients' records are deleted too. The
-- function has the rights of its caller, which must be the owner: the application may delete nothing of this.
--   - p_is_done: false: everything is deleted and rolled back, to show the result.
--
-- Returned rows: a number of deleted rows for each value of the column what, or one row with a refusal. A refusal is
-- 'legal-hold' (or no such site), 'missing', or 'merged' with the id of the survivor in the column what. Notes the
-- erased items for the audit, other patients as concerned.
create or replace function patient_erase(p_site uuid, p_patient uuid, p_is_done boolean)
returns table (refusal text, what text, number bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  survivor uuid;
  patients uuid[];
  others uuid[];
  pattern text;
  messages uuid[];
  issues uuid[];
  t text;
  n bigint;
  documents text[];
  names text[] := '{}';
  counts bigint[] := '{}';
begin
  perform from site s where s.site_id = p_site and not s.legal_hold for share;
  if not found then
    return query select 'legal-hold', null::text, null::bigint;
    return;
  end if;
  perform from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = p_patient;
  if not found then
    return query select 'missing', null::text, null::bigint;
    return;
  end if;
  survivor := patient_survivor(p_site, p_patient);
  if survivor <> p_patient
     and exists (select from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = survivor) then
    return query select 'merged', survivor::text, null::bigint;
    return;
  end if;
  patients := p_patient || array(
    select r.id from resource r
     where r.site_id = p_site and r.type = 'Patient' and r.id <> p_patient
       and case when r.replaced_by is not null then patient_survivor(p_site, r.id) = p_patient end);

  -- Messages about the patients and this transaction exclude each other. A writer that waited then finds no patient.
  perform lock_patients(p_site, '{}', patients);
  perform from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = any (patients) order by r.id for update;
  perform from resource r where r.site_id = p_site and r.patient_id = any (patients) order by r.type, r.id for update;
  begin
    create temporary table erased on commit drop as
      select r.type, r.id, r.patient_id from resource r
       where r.site_id = p_site and (r.type = 'Patient' and r.id = any (patients) or r.patient_id = any (patients));
    perform audit_note(array(select row('patient-erased', e.type, e.id, e.patient_id)::audit_item from erased e));

    messages := array(
      select x.message_id from hl7_message_resource x join erased e on x.type = e.type and x.id = e.id
       where x.site_id = p_site
      -- The messages that made a version about them, of a resource that is now about another patient.
      union select x.message_id from resource_history h
        join hl7_message_resource x on x.site_id = h.site_id and x.type = h.type and x.id = h.id and x.version = h.version
       where h.site_id = p_site and h.patient_id = any (patients)
      union select m.message_id from hl7_message m
       where m.site_id = p_site and m.raw is not null
         and not exists (select from hl7_message_resource x where x.site_id = m.site_id and x.message_id = m.message_id)
         and exists (select from patient_identity i
                      where i.site_id = p_site and i.id = any (patients)
                        and (exists (select from hl7_message_key k
                                      where k.site_id = p_site and k.message_id = m.message_id
                                        and k.key like '#%' and k.value = i.value)
                          or encode(m.raw, 'escape') ~ ('(PID\|[^|\r\n]*\|[^|\r\n]*|MRG)\|([^|\r\n]*~)?'
                          || regexp_replace(i.value, '([^[:alnum:]])', '\\\1', 'g') || '([\^~|\r\n]|$)'))));
    perform audit_note(array(select row('patient-erased', 'Hl7Message', m, null)::audit_item from unnest(messages) m));
    names := names || array['messages', 'messages that also made resources of others'];
    counts := counts || cardinality(messages)::bigint || (
      select count(distinct x.message_id) from hl7_message_resource x
       where x.site_id = p_site and x.message_id = any (messages)
         and not exists (select from erased e where e.type = x.type and e.id = x.id));

    -- An export as of an earlier moment is no longer possible: a file that is requested again would be different.
    delete from bulk_export x where x.site_id = p_site;

    -- An issue without a patient stays; its messages are forgotten.
    issues := array(select i.issue_id from issue i
                     where i.site_id = p_site and (i.patient_a = any (patients) or i.patient_b = any (patients)));
    foreach t in array array['issue_message', 'issue_decision', 'attention', 'issue'] loop
      execute format('delete from %I x where x.site_id = $1 and x.issue_id = any ($2)', t) using p_site, issues;
      get diagnostics n = row_count;
    end loop;
    names := names || 'issues'::text;
    counts := counts || n;
    documents := hl7_messages_forget(p_site, messages);
    -- A resource that is now about another patient keeps the documents of its remaining versions.
    with gone as (
      delete from document_use u
       using (select e.type, e.id, true as is_erased from erased e
              union
              select h.type, h.id, false from resource_history h
               where h.site_id = p_site and h.patient_id = any (patients)
                 and not exists (select from erased e where e.type = h.type and e.id = h.id)) x
       where u.site_id = p_site and u.type = x.type and u.id = x.id
         and (x.is_erased or not exists (
           select from resource r
            where r.site_id = p_site and r.type = u.type and r.id = u.id and strpos(r.body, u.sha256) > 0
           union all
           select from resource_history h
            where h.site_id = p_site and h.type = u.type and h.id = u.id and strpos(h.body, u.sha256) > 0
              and (h.patient_id = any (patients)) is not true
           union all
           select from hl7_precedence p
            where p.site_id = p_site and p.type = u.type and p.id = u.id and strpos(p.fields, u.sha256) > 0))
      returning u.sha256)
    select documents || array_agg(g.sha256) into documents from gone g;

    delete from patient_merge x where x.site_id = p_site and (x.merged = any (patients) or x.survivor = any (patients));
    delete from report x using erased e where x.site_id = p_site and e.type = 'DiagnosticReport' and x.report_id = e.id;
    delete from study x where x.site_id = p_site and x.patient_id = any (patients);
    delete from resource_history x where x.site_id = p_site and x.patient_id = any (patients)
       and not exists (select from erased e where e.type = x.type and e.id = x.id);
    get diagnostics n = row_count;
    names := names || 'versions of what is now about another'::text;
    counts := counts || n;
    delete from patient_name x
     using patient_search s
     cross join lateral (
       select 'family' as part, string_to_table(s.families, E'\n') as name
       union all select 'given', string_to_table(s.givens, E'\n')) n
     where s.site_id = p_site and s.id = any (patients)
       and x.site_id = p_site and x.part = n.part and x.name = left(n.name, 200) and x.id = s.id;
    foreach t in array array['resource_identifier', 'patient_search', 'patient_identity', 'patient_trait',
      'hl7_identity', 'hl7_precedence', 'hl7_result', 'hl7_message_resource', 'resource_history'] loop
      execute format('delete from %I x using erased e where x.site_id = $1 and x.type = e.type and x.id = e.id', t) using p_site;
      get diagnostics n = row_count;
      names := names || t;
      counts := counts || n;
    end loop;
    delete from hl7_result x where x.site_id = p_site and x.patient_id = any (patients);
    delete from resource_date x
     using (select e.id, unnest(date_keys(e.type)) as key from erased e offset 0) e
     where x.site_id = p_site and x.date_key = e.key and x.id = e.id;
    get diagnostics n = row_count;
    names := names || 'resource_date'::text;
    counts := counts || n;
    delete from resource_token x using erased e
     where x.site_id = p_site and x.id = e.id and (x.code_key | x.system_key) & 15 = token_type(e.type);
    get diagnostics n = row_count;
    names := names || 'resource_token'::text;
    counts := counts || n;

    -- Other patients lose their links to them, and Groups lose them as members, also in earlier versions.
    pattern := '"Patient/(' || array_to_string(patients, '|') || ')[/"]';
    others := array(select r.id from resource r
                     where r.site_id = p_site and r.type in ('Patient', 'Group') and r.id <> all (patients) and r.body ~ pattern
                     order by r.id for update);
    insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
      select r.site_id, r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, r.written_by
        from resource r where r.site_id = p_site and r.type in ('Patient', 'Group') and r.id = any (others);
    update resource r
       set version = r.version + 1, body = patient_links_without(r.body, patients),
           last_updated = greatest(write_time(), r.last_updated),
           written_by = greatest(pg_current_xact_id()::text::bigint, r.written_by)
     where r.site_id = p_site and r.type in ('Patient', 'Group') and r.id = any (others);
    update resource_history h set body = patient_links_without(h.body, patients)
     where h.site_id = p_site and h.type in ('Patient', 'Group') and h.body ~ pattern;
    perform audit_note(array(select row('patient-erased', 'Patient', p_patient, r.id)::audit_item
      from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = any (others)));

    -- The change feed names what is erased, so that subscribers erase it too.
    insert into resource_erased (site_id, type, id, patient_id, erased_at, written_by)
      select p_site, e.type, e.id, e.patient_id, write_time(), greatest(pg_current_xact_id()::text::bigint, r.written_by)
        from erased e join resource r on r.site_id = p_site and r.type = e.type and r.id = e.id
       where exists (select from change_position p where p.site_id = p_site);
    delete from resource r where r.site_id = p_site and r.patient_id = any (patients);
    get diagnostics n = row_count;
    delete from resource r where r.site_id = p_site and r.type = 'Patient' and r.id = any (patients);
    names := names || array['resources', 'patients, those merged into it among them', 'patients who lose a link, and groups who lose a member'];
    counts := counts || n || cardinality(patients)::bigint || cardinality(others)::bigint;
    perform documents_forget(p_site, documents);
    if not p_is_done then
      raise exception 'only counted';
    end if;
    drop table erased;
  exception when raise_exception then
    if p_is_done then
      raise;
    end if;
  end;
  return query select null::text, x.name, x.count from unnest(names, counts) x(name, count);
end $$;
