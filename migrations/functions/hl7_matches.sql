-- Returns the stored rows that a message finds:
--   - the patients that have one of the identifier values;
--   - the patients they were merged into (Patient.link of type replaced-by, here and not in the edge to avoid a round
--     trip);
--   - the resources that HL7 keys identify with one of these patients.
--
-- A row is returned once, even if several keys find it. The order of rows has no meaning.
--   - p_values: identifier values. For each value 100 patients are found.
--   - p_types[i], p_keys[i]: pairs without duplicates, with a key for each type as follows.
--   - Patient: JSON, [value, authority, …]: patients with the value in one of these authorities are found first.
--   - Observation, DiagnosticReport, of hl7_result: JSON, [what, filler, placer, first minute, last minute, days …, and
--     '' where no time is known]. With a number it finds all results of the order, and what is ''. Without a number it
--     finds the results of what. A row's key is [patient, what, at, place, numbers]. Each key finds the newest 5,001
--     (edge/hl7/results/file-results.ts), and those without a time. A key without times, ['', filler, placer], finds
--     the newest 100 of the order. ['children', filler, placer] also finds the newest 100 whose parent is of the order,
--     the newest 100 of each of their orders, and so on. It finds their reports too.
--     A report's key without a number also finds the results of the report, which no number finds.
--   - DocumentReference: 'number ' and a document's number finds the documents of any authority with it, except those
--     that another key asks for.
--   - Other types: a key of hl7_identity without its end, '@' and the patient's id.
--   - The key '', of any type: the rows that two of the patients may both have, for a merge of the first into the
--     second. It also finds a document and the key under which another document replaced it,
--     and documents and keys with one number (edge/hl7/message/documents.ts).
--
-- The roles: patient, identity and result are stored resources (hl7_match); number is an identifier, trait an earlier
-- name or birth date. The column asked has the positions in p_keys, from 1, of the keys that found the row. If there
-- are more than 1,000, it has one of them, and no isolate stores it (edge/hl7/ingest/snapshot/record-cache.ts). It is
-- null for rows that were found in another way.
--
-- Most orders have few results: one look-up by each number finds those of all keys. Other orders have thousands, and
-- without an offset the minutes of two collections overlap. Then times that overlap are looked up together, once.
--
-- PL/pgSQL keeps the plans, and skips the statements that a message does not need. Starting one statement for all costs
-- more than the look-ups. The laterals with a limit are look-ups by key, one at a time, independent of the planner's
-- estimates. Those of hl7_result follow its index, so that a table without statistics is not read by another index. The
-- keys are computed before: a policy keeps conditions that compute something out of an index (migrations/README.md,
-- Rights). Settings: migrations/README.md, "Plans".
create or replace function hl7_matches(p_site uuid, p_values text[], p_types text[], p_keys text[])
returns table (role text, key text, type text, id uuid, version integer, last_updated timestamptz, meta text, body text,
  contributions text, asked integer[], state text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  own json := case when 'Patient' = any (p_types) then (
    select json_object_agg(k.key::json ->> 0, k.key::json)
      from unnest(p_types, p_keys) k (type, key) where k.type = 'Patient') end;
  direct uuid[] := array(
    select distinct c.id
      from unnest(p_values) v (value)
     cross join lateral (
       select i.id from patient_identity i
        where i.site_id = p_site and i.value = v.value
        group by i.id
        order by bool_or(own is not null
            and i.authority in (select search_key(d) from json_array_elements_text(own -> v.value) d)) desc, i.id
        limit 100) c
     order by c.id);
  patients uuid[];
  survivors uuid[];
  identity_types text[];
  -- The parts of the keys of results; times without a time is []. A key has either numbers or what, the others are null.
  types text[]; whats text[]; fillers text[]; placers text[]; times jsonb[]; ns integer[];
  found hl7_result[]; is_short boolean;
begin
  if direct = '{}' then return; end if;
  patients := direct;
  survivors := direct;
  -- A chain of links that is too long, or a loop, ends here.
  for depth in 1 .. 16 loop
    survivors := array(
      select distinct r.replaced_by
        from unnest(survivors) c (id)
       cross join lateral (
         select x.replaced_by from resource x where x.site_id = p_site and x.type = 'Patient' and x.id = c.id limit 1) r
       where r.replaced_by <> all (patients));
    exit when survivors = '{}';
    patients := patients || survivors;
  end loop;

  return query
  select f.* from unnest(patients) p (id) cross join lateral hl7_match(p_site, 'patient', '', 'Patient', p.id, null) f;
  return query
  select k.role, k.key, 'Patient', k.id, 0, null::timestamptz, '', '', null, null::integer[],
         md5(concat_ws('|', k.role, k.key, 'Patient', k.id, 0))
    from (
      select 'number' as role, json_build_array(i.authority, i.value, i.number_type, i.led, i.is_assumed)::text as key, i.id
        from unnest(direct) d (id)
       cross join lateral (
         select x.* from patient_identity x where x.site_id = p_site and x.id = d.id and x.value = any (p_values) offset 0) i
      union all
      select 'trait', t.trait, p.id
        from unnest(patients) p (id)
       cross join lateral (
         select x.trait from patient_trait x where x.site_id = p_site and x.id = p.id order by x.trait limit 200) t) k;

  if '' = any (p_keys) then
    identity_types := array(
      select k.type from unnest(p_types, p_keys) k (type, key)
       where k.key = '' and k.type not in ('Observation', 'DiagnosticReport'));
    return query
    select f.*
      from (
        select i.key, i.type, i.id, min(p.id::text) over same as first, max(p.id::text) over same as last,
               n.number, min(p.id::text) over numbered as first_numbered, max(p.id::text) over numbered as last_numbered
          from unnest(patients) p (id)
         cross join lateral (
           select x.type, x.id from resource x
            where x.site_id = p_site and x.patient_id = p.id and x.type = any (identity_types) offset 0) c
         cross join lateral (
           select x.* from hl7_identity x
            where x.site_id = p_site and x.type = c.type and x.id = c.id and x.key like '%@' || p.id::text offset 0) i
         cross join lateral (
           select case when i.key ^@ 'cancelled ' then substr(left(i.key, -37), 11)
                       when i.key ^@ 'replacesnumber ' then substr(left(i.key, -37), 16)
                       when i.type = 'DocumentReference' and i.key ^@ '[' then left(i.key, -37)::json ->> 0 end as number) n
        window same as (partition by i.type, regexp_replace(left(i.key, -37), '^replaces', '')),
               numbered as (partition by n.number)) m
     cross join lateral hl7_match(p_site, 'identity', m.key, m.type, m.id, null) f
     where m.first <> m.last or m.number is not null and m.first_numbered <> m.last_numbered;
    -- Results without a number, whose times may be similar.
    return query
    select f.*
      from unnest(patients) p (id)
     cross join lateral (
       select x.* from hl7_result x where x.site_id = p_site and x.patient_id = p.id and x.filler = '' and x.placer = '' offset 0) i
     cross join lateral (
       select from unnest(patients) q (id)
        cross join lateral (
          select from hl7_result x
           where (x.site_id, x.patient_id, x.type, x.what, x.filler, x.placer) = (p_site, q.id, i.type, i.what, '', '')
             and (x.at = i.at or length(x.at) <= 10 or length(i.at) <= 10) limit 1) x
        where q.id <> p.id limit 1) o
     cross join lateral hl7_match(p_site, 'result',
       json_build_array(i.patient_id, i.what, i.at, i.place, i.numbers::json)::text, i.type, i.id, null) f;
    -- The orders whose number, of any assigning authority, is that of an order or of a parent's order in the other record. A result
    -- with several numbers connects their orders: the reports of a child, and the results of a result.
    return query
    select f.*
      from (
        with recursive family (number) as (
          (select n.number
            from unnest(patients) p (id)
           cross join lateral (
             select distinct o.number from hl7_result x cross join unnest(array[x.filler, x.placer, x.parent]) o (number)
              where x.site_id = p_site and x.patient_id = p.id and o.number <> '') n
           group by n.number having count(*) > 1)
          union
          select n.number
            from family o
           cross join unnest(patients) p (id)
           cross join unnest(array['Observation', 'DiagnosticReport']::result_type[]) t (type)
           cross join lateral (
             select distinct m.number
               from (
                 (select x.* from hl7_result x
                   where (x.site_id, x.patient_id, x.type, x.filler) = (p_site, p.id, t.type, o.number) and x.filler <> '' offset 0)
                 union all
                 (select x.* from hl7_result x
                   where (x.site_id, x.patient_id, x.type, x.placer) = (p_site, p.id, t.type, o.number) and x.placer <> '' offset 0)
                 union all
                 (select x.* from hl7_result x
                   where (x.site_id, x.patient_id, x.type, x.parent) = (p_site, p.id, t.type, o.number) and x.parent <> '' offset 0)) x
              cross join unnest(array[x.filler, x.placer, x.parent]) m (number)
              where m.number <> '') n)
        select distinct on (x.type, x.id) x.*
          from family o
         cross join unnest(patients) p (id)
         cross join unnest(array['Observation', 'DiagnosticReport']::result_type[]) t (type)
         cross join lateral (
           (select x.* from hl7_result x
             where (x.site_id, x.patient_id, x.type, x.filler) = (p_site, p.id, t.type, o.number) and x.filler <> '' offset 0)
           union all
           (select x.* from hl7_result x
             where (x.site_id, x.patient_id, x.type, x.placer) = (p_site, p.id, t.type, o.number) and x.placer <> '' offset 0)) x) i
     cross join lateral hl7_match(p_site, 'result',
       json_build_array(i.patient_id, i.what, i.at, i.place, i.numbers::json)::text, i.type, i.id, null) f;
  end if;

  if not p_types <@ array['Patient', 'Observation', 'DiagnosticReport'] then
    return query
    select f.*
      from unnest(patients) p (id)
     cross join lateral (
       select t.type, t.key || '@' || p.id::text as key, t.n
         from unnest(p_types, p_keys) with ordinality as t(type, key, n)
        where t.type not in ('Patient', 'Observation', 'DiagnosticReport') offset 0) k
     cross join lateral (
       select x.* from hl7_identity x where x.site_id = p_site and x.type = k.type and x.key = k.key limit 1) i
     cross join lateral hl7_match(p_site, 'identity', i.key, i.type, i.id, array[k.n::integer]) f;
    if exists (select from unnest(p_types, p_keys) t (type, key) where t.type = 'DocumentReference' and starts_with(t.key, 'number ')) then
      return query
      select f.*
        from unnest(patients) p (id)
       cross join lateral (
         select x.id from resource x
          where x.site_id = p_site and x.patient_id = p.id and x.type = 'DocumentReference' offset 0) d
       cross join lateral (
         select x.value from resource_identifier x where x.id = d.id and x.site_id = p_site and x.type = 'DocumentReference' offset 0) v
        join (
         select substr(t.key, 8) as value, t.n from unnest(p_types, p_keys) with ordinality t (type, key, n)
          where t.type = 'DocumentReference' and starts_with(t.key, 'number ')) k on k.value = v.value
       cross join lateral (
         select x.key from hl7_identity x
          where x.id = d.id and x.type = 'DocumentReference' and x.site_id = p_site
            and x.key like '[%@' || p.id::text and left(x.key, -37) <> all (p_keys) offset 0) i
       cross join lateral hl7_match(p_site, 'identity', i.key, 'DocumentReference', d.id, array[k.n::integer]) f
       where i.key::text ^@ ('[' || to_json(k.value)::text || ',');
    end if;
  end if;

  if p_types && array['Observation', 'DiagnosticReport'] then
    select array_agg(x.type), array_agg(case when u.key ->> 1 = '' and u.key ->> 2 = '' then u.key ->> 0 end), array_agg(nullif(u.key ->> 1, '')),
           array_agg(nullif(u.key ->> 2, '')), array_agg(u.key - 0 - 0 - 0), array_agg(x.n)
      into types, whats, fillers, placers, times, ns
      from unnest(p_types, p_keys) with ordinality x (type, key, n)
     cross join lateral (
       select x.key::jsonb as key where x.type in ('Observation', 'DiagnosticReport') and x.key <> '' offset 0) u;
    -- The first results of the orders: all of them if they are fewer than the limit.
    found := array(
      select h.h
        from unnest(patients) p (id)
       cross join (select distinct o.* from unnest(types, whats, fillers, placers) o) k(type, what, filler, placer)
       cross join lateral (
         (select x as h from hl7_result x where (x.site_id, x.patient_id, x.type, x.filler) = (p_site, p.id, k.type, k.filler) and x.filler <> ''
           order by x.at desc limit 100)
         union all
         (select x from hl7_result x where (x.site_id, x.patient_id, x.type, x.placer) = (p_site, p.id, k.type, k.placer) and x.placer <> ''
           order by x.at desc limit 100)
         union all
         (select x from hl7_result x where (x.site_id, x.patient_id, x.type, x.what, x.filler, x.placer) = (p_site, p.id, k.type, k.what, '', '')
           order by x.at desc limit 100)) h limit 100);
    is_short := cardinality(found) < 100 and cardinality(p_keys) <= 1000;
    if is_short and found <> '{}' and array_position(placers, null) > 0 then
      -- A filler's number alone: earlier messages may have shown the placer's number of the order.
      is_short := not exists (
        select from (select distinct h.patient_id, h.type, h.placer from unnest(found) h where h.filler in (
                       select k.filler from unnest(fillers, placers) k(filler, placer) where k.placer is null)) h
         cross join lateral (
           select from hl7_result x
            where (x.site_id, x.patient_id, x.type, x.placer, x.filler) = (p_site, h.patient_id, h.type, h.placer, '') and x.placer <> ''
            order by x.at desc limit 1) x);
    end if;
    if is_short and found <> '{}' then
      return query
      select f.*
        from (select distinct on (h.id, h.type) h.* from unnest(found) h) h
       cross join lateral (
         select array_agg(k.n) as asked
           from unnest(types, whats, fillers, placers, times, ns) k(type, what, filler, placer, times, n)
          where k.type = h.type and (k.filler = h.filler or k.placer = h.placer or k.what = h.what and h.filler = '' and h.placer = '')
            and (k.times = '[]' or h.at between k.times ->> 0 and k.times ->> 1 or k.times ? h.at)
         having count(*) > 0) k
       cross join lateral hl7_match(p_site, 'result',
         json_build_array(h.patient_id, h.what, h.at, h.place, h.numbers::json)::text, h.type, h.id, k.asked) f;
    elsif not is_short then
      return query
      select f.*
        from (
          select h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers, array_agg(distinct q.n) as asked
            from unnest(patients) p (id)
           cross join (
             select b.type, b.what, b.filler, b.placer, min(b.first) as first, max(b.last) as last,
                    case when b.is_newest then 100 else 5001 * count(*) end as most,
                    array_agg(b.n) as ns, array_agg(b.first) as firsts, array_agg(b.last) as lasts
               from (
                 select a.*, count(*) filter (where a.begins) over (same_order rows unbounded preceding) as together
                   from (
                     select t.*, t.first > max(t.last) over (same_order rows between unbounded preceding and 1 preceding) is not false as begins
                       from (
                         select k.type, k.what, k.filler, k.placer, d.first collate "C" as first, d.last collate "C" as last, k.n, d.is_newest
                           from unnest(types, whats, fillers, placers, times, ns) k(type, what, filler, placer, times, n)
                          cross join lateral (
                             select coalesce(k.times ->> 0, ''), coalesce(k.times ->> 1, '~'), k.times = '[]'
                             union all
                             select e.at, e.at, false from jsonb_array_elements_text(k.times) with ordinality e(at, n) where e.n > 2)
                             d(first, last, is_newest)) t
                     window same_order as (partition by t.type, t.what, t.filler, t.placer, t.is_newest, t.last = '' order by t.first, t.last)) a
                 window same_order as (partition by a.type, a.what, a.filler, a.placer, a.is_newest, a.last = '' order by a.first, a.last)) b
              group by b.type, b.what, b.filler, b.placer, b.is_newest, b.last = '', b.together offset 0) k
           cross join lateral (
             (select x.* from hl7_result x
               where (x.site_id, x.patient_id, x.type, x.filler) = (p_site, p.id, k.type, k.filler) and x.filler <> '' and x.at between k.first and k.last
               order by x.at desc limit k.most)
             union all
             (select x.* from hl7_result x
               where (x.site_id, x.patient_id, x.type, x.placer) = (p_site, p.id, k.type, k.placer) and x.placer <> '' and x.at between k.first and k.last
               order by x.at desc limit k.most)
             union all
             -- A filler's number alone: earlier messages may have shown the placer's number of the order.
             (select x.*
                from (
                  select distinct o.placer from (
                    select x.placer from hl7_result x
                     where x.site_id = p_site and x.patient_id = p.id and x.type = k.type and x.filler = k.filler and x.filler <> ''
                       and x.at between k.first and k.last and k.placer is null
                     order by x.at desc limit k.most) o
                   where o.placer <> '' limit 2) o
               cross join lateral (
                 select x.* from hl7_result x
                  where x.site_id = p_site and x.patient_id = p.id and x.type = k.type and x.placer = o.placer and x.placer <> ''
                    and x.filler = '' and x.at between k.first and k.last
                  order by x.at desc limit k.most) x)
             union all
             (select x.* from hl7_result x
               where (x.site_id, x.patient_id, x.type, x.what, x.filler, x.placer) = (p_site, p.id, k.type, k.what, '', '') and x.at between k.first and k.last
               order by x.at desc limit k.most)) h
           cross join lateral (
             select q.n from unnest(k.ns, k.firsts, k.lasts) q(n, first, last)
              where case when cardinality(p_keys) <= 1000 then h.at between q.first and q.last else q.n = k.ns[1] end) q
           group by h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers
           -- So many are an excess (hl7_matches_json).
           limit 32768) i
       cross join lateral hl7_match(p_site, 'result',
         json_build_array(i.patient_id, i.what, i.at, i.place, i.numbers::json)::text, i.type, i.id, i.asked) f;
    end if;

    -- Few patients have results with a parent, and few reports lack a number. The statement is only then started.
    if array_remove(whats, null) <> '{}' or exists (
        select from unnest(patients) p (id)
         cross join lateral (
           select from hl7_result x
            where x.site_id = p_site and x.patient_id = p.id and x.type = 'Observation' and x.parent <> '' limit 1) c) then
      return query
      select f.*
        from (
          select h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers, array_agg(distinct h.n) as asked
            from (
              select h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers, h.n
                from (
                  -- A result may itself be the parent of others. Equal rows end a circle.
                  with recursive below as (
                    select h.*, k.n
                      from unnest(patients) p (id)
                     cross join (
                       select k.* from unnest(fillers, placers, ns) k(filler, placer, n) where p_keys[k.n]::json ->> 0 = 'children' offset 0) k
                     cross join unnest(array[k.filler, k.placer]) o (number)
                     cross join lateral (
                       select x.* from hl7_result x
                        where (x.site_id, x.patient_id, x.type, x.parent) = (p_site, p.id, 'Observation', o.number) and x.parent <> ''
                        order by x.at desc limit 100) h
                    union
                    select h.*, b.n
                      from (
                        select distinct b.patient_id, o.number, b.n from below b cross join unnest(array[b.filler, b.placer]) o (number)) b
                     cross join lateral (
                       select x.* from hl7_result x
                        where (x.site_id, x.patient_id, x.type, x.parent) = (p_site, b.patient_id, 'Observation', b.number) and x.parent <> ''
                        order by x.at desc limit 100) h)
                  select * from below
                  union all
                  -- Their reports: a result that is withdrawn is no longer in its report.
                  select r.*, b.n
                    from (select distinct b.patient_id, b.filler, b.placer, b.n from below b) b
                   cross join lateral (
                     (select x.* from hl7_result x
                       where (x.site_id, x.patient_id, x.type, x.filler) = (p_site, b.patient_id, 'DiagnosticReport', b.filler) and x.filler <> ''
                       order by x.at desc limit 100)
                     union
                     (select x.* from hl7_result x
                       where (x.site_id, x.patient_id, x.type, x.placer) = (p_site, b.patient_id, 'DiagnosticReport', b.placer) and x.placer <> ''
                       order by x.at desc limit 100)) r) h
               -- Another key finds the results of the message's orders.
               where not exists (
                 select from unnest(types, fillers, placers) o(type, filler, placer)
                  where o.type = 'Observation' and (o.filler = h.filler or o.placer = h.placer))
              union all
              select h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers, k.n
                from unnest(patients) p (id)
               cross join (
                 select k.* from unnest(types, whats, times, ns) k(type, what, times, n) where k.type = 'DiagnosticReport' and k.what is not null offset 0) k
               cross join lateral (
                 select x.id from hl7_result x
                  where (x.site_id, x.patient_id, x.type, x.what, x.filler, x.placer) = (p_site, p.id, 'DiagnosticReport', k.what, '', '')
                    and (x.at between k.times ->> 0 and k.times ->> 1 or length(x.at) <= 10)
                  order by x.at desc limit 100) w
               cross join lateral (
                 select r.body from resource r where r.site_id = p_site and r.type = 'DiagnosticReport' and r.id = w.id limit 1) r
               cross join lateral (
                 select substring(e ->> 'reference' from '^Observation/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid as id
                   from json_array_elements(('{' || r.body || '}')::json -> 'result') e offset 0) e
               cross join lateral (
                 select x.* from hl7_result x
                  where x.id = e.id and x.type = 'Observation' and x.site_id = p_site and x.patient_id = p.id limit 1) h
               -- Another key finds the message's observations.
               where not exists (select from unnest(types, whats) o(type, what) where o.type = 'Observation' and o.what = h.what)) h
           group by h.type, h.id, h.patient_id, h.what, h.at, h.place, h.numbers) i
       cross join lateral hl7_match(p_site, 'result',
         json_build_array(i.patient_id, i.what, i.at, i.place, i.numbers::json)::text, i.type, i.id, i.asked) f;
    end if;
  end if;
end $$;
