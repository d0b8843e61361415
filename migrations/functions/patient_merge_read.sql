-- Returns a merge with the records of both patients, as JSON text; null if the site has no such merge. The text is '' if both
-- records together have more than 5,000 resources or 8 MiB of content (edge/docs/behaviour.md, Limits).
--   - merge: the row of patient_merge; kept: its column.
--   - resources: of both patients, those that the merge changed, and those that messages or clients wrote since. Each is
--     { type, id, version, meta, body, patient, isNew, fields, base, after, touches, clientWrites }.
--     - isNew: created after the merge.
--     - fields: of hl7_precedence.
--     - base, after: { meta, body, patient } before the merge, and as the merge wrote it; null for none.
--     - touches: statements of messages since: { isMerge, elements, numbers: values of PID-3 }. isMerge: of the message
--       of the merge. A move by another merge states nothing about the resource, and is left out.
--     - clientWrites: the number of versions since that neither a message nor an undo wrote.
--   - numbers: [{ id, authority, value }], current rows of patient_identity: of both patients, and of patients that were
--     merged into one of them, with its id.
--   - taken: [{ authority, value }], identifiers of the merged patient that lead to another patient now.
--
-- p_shown: the action that is noted for the audit, or null.
create or replace function patient_merge_read(p_site uuid, p_merge uuid, p_shown text) returns text
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  m patient_merge;
  ignored text;
begin
  select x.* into m from patient_merge x where x.site_id = p_site and x.merge_id = p_merge;
  if not found then return null; end if;
  if p_shown is not null then
    ignored := audit_note(array[row(p_shown, 'Patient', m.merged, null)::audit_item,
      row(p_shown, 'Patient', m.survivor, null)::audit_item]);
  end if;
  if (select count(*) > 5000 or sum(octet_length(x.body)) > 8388608
        from (select r.body from resource r where r.site_id = p_site and r.patient_id in (m.merged, m.survivor) limit 5001) x) then
    return '';
  end if;
  return (
    with recursive side (id, of) as (
      select m.merged, m.merged union select m.survivor, m.survivor
      union
      select r.id, s.of from side s
       cross join lateral (
         select x.id from resource x where x.site_id = p_site and x.replaced_by = s.id and x.id <> m.merged offset 0) r
    ), linked (id) as (
      -- All patients that merges connect: the undo of one may have moved the resources of another.
      select id from unnest(array[m.merged, m.survivor]) p(id)
      union
      select case x.merged when l.id then x.survivor else x.merged end from linked l
       cross join lateral (
         select y.merged, y.survivor from patient_merge y where y.site_id = p_site and y.merged = l.id
         union all
         select y.merged, y.survivor from patient_merge y where y.site_id = p_site and y.survivor = l.id) x
    ), undone as materialized (
      select w.value ->> 0 as type, (w.value ->> 1)::uuid as id, (w.value ->> 2)::integer as version
        from linked l
       cross join lateral (
         select y.undone from patient_merge y where y.site_id = p_site and y.merged = l.id and y.undone is not null offset 0) x
       cross join lateral json_array_elements(x.undone) w
    ), base as (
      select e.value ->> 0 as type, (e.value ->> 1)::uuid as id, (e.value ->> 2)::integer as version
        from json_array_elements(m.kept -> 'resources') e
    ), ids as materialized (
      select b.type, b.id, max(b.version) as version
        from (
          select x.type, x.id, x.version from base x
          union all select 'Patient', p.id, null from unnest(array[m.merged, m.survivor]) p(id)
          union all
          select x.type, x.id, null from resource x where x.site_id = p_site and x.patient_id = m.merged
          union all
          select x.type, x.id, null from resource x where x.site_id = p_site and x.patient_id = m.survivor) b
       group by b.type, b.id
    ), current as materialized (
      select r.*, b.version as base_version, coalesce(
               (select h.last_updated from resource_history h
                 where h.site_id = p_site and h.type = r.type and h.id = r.id and h.version = 1), r.last_updated) > m.merged_at as is_new
        from ids b
       cross join lateral (
         select x.* from resource x where x.site_id = p_site and x.type = b.type and x.id = b.id limit 1) r
    ), touched as materialized (
      select c.type, c.id, x.message_id, x.version, x.elements
        from current c
       cross join lateral (
         select h.* from hl7_message_resource h where h.site_id = p_site and h.type = c.type and h.id = c.id offset 0) x
       where (x.message_id >= m.message_id or x.version > coalesce(c.base_version, c.version))
         and (x.message_id = m.message_id or x.elements not in ('subject MRG-1', 'patient MRG-1'))
    ), versions as materialized (
      select c.type, c.id, h.version, h.last_updated
        from current c
       cross join lateral (
         select x.version, x.last_updated from resource_history x
          where x.site_id = p_site and x.type = c.type and x.id = c.id offset 0) h
       where h.version > coalesce(c.base_version, 0)
      union all select c.type, c.id, c.version, c.last_updated from current c where c.version > coalesce(c.base_version, 0)
    ), touches as (
      select t.type, t.id, json_agg(json_build_object('isMerge', t.message_id = m.message_id,
               'elements', t.elements, 'numbers', array(
                 select distinct k.value from hl7_message_key k
                  where k.site_id = p_site and k.message_id = t.message_id and k.field = 'PID-3'))
               order by t.version, t.message_id) as list
        from touched t group by t.type, t.id
    ), writes as (
      -- A FHIR client wrote these.
      select v.type, v.id, count(*) as number
        from versions v
       where v.last_updated >= m.merged_at
         and not exists (select from hl7_message_resource x
                          where x.site_id = p_site and x.type = v.type and x.id = v.id and x.version = v.version and x.is_written)
         and not exists (select from undone u where u.type = v.type and u.id = v.id and u.version = v.version)
       group by v.type, v.id
    )
    select json_build_object(
      'merge', json_build_object('id', m.merge_id, 'messageId', m.message_id, 'merged', m.merged, 'survivor', m.survivor,
        'mergedAt', m.merged_at, 'undoneAt', m.undone_at, 'undoneBy', m.undone_by, 'reason', m.reason),
      'kept', m.kept,
      'numbers', (
        select coalesce(json_agg(json_build_object('id', s.of, 'authority', i.authority, 'value', i.value)
                 order by s.of, i.authority, i.value), '[]')
          from side s
         cross join lateral (select x.* from patient_identity x where x.site_id = p_site and x.id = s.id offset 0) i),
      'taken', (
        select coalesce(json_agg(distinct jsonb_build_object('authority', k.authority, 'value', k.value)), '[]')
          from json_populate_recordset(null::patient_identity, m.kept -> 'numbers') k
         where k.id = m.merged and k.led
           and exists (select from patient_identity x
                        where x.site_id = p_site and x.authority = k.authority and x.value = k.value and x.led
                          and x.id not in (select s.id from side s))
           and not exists (select from patient_identity x
                            where x.site_id = p_site and x.authority = k.authority and x.value = k.value
                              and x.id in (m.merged, m.survivor))),
      'resources', (
        select coalesce(json_agg(json_build_object('type', c.type, 'id', c.id, 'version', c.version, 'meta', c.meta,
                 'body', c.body, 'patient', c.patient_id, 'isNew', c.is_new,
                 'fields', (select o.fields from hl7_precedence o where o.site_id = p_site and o.type = c.type and o.id = c.id),
                 'base', (
                   select json_build_object('meta', v.meta, 'body', v.body, 'patient', v.patient_id)
                     from (select h.version, h.meta, h.body, h.patient_id from resource_history h
                            where h.site_id = p_site and h.type = c.type and h.id = c.id
                           union all select c.version, c.meta, c.body, c.patient_id) v
                    where v.version = c.base_version),
                 'after', (
                   select json_build_object('meta', v.meta, 'body', v.body, 'patient', v.patient_id)
                     from (select h.version, h.meta, h.body, h.patient_id from resource_history h
                            where h.site_id = p_site and h.type = c.type and h.id = c.id
                           union all select c.version, c.meta, c.body, c.patient_id) v
                    where v.version = (
                      select max(x.version) from hl7_message_resource x
                       where x.site_id = p_site and x.message_id = m.message_id and x.type = c.type and x.id = c.id)),
                 'touches', coalesce(t.list, '[]'), 'clientWrites', coalesce(w.number, 0))
                 order by c.type, c.id), '[]')
          from current c
          left join touches t on t.type = c.type and t.id = c.id
          left join writes w on w.type = c.type and w.id = c.id
         where c.base_version is not null or c.is_new or t.list is not null or w.number is not null))::text);
end $$;
