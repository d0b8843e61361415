-- Two charts become one, and both have a result of one key (edge/README.md, HL7 v2, Which resource): what was said later
-- stays, the other becomes entered-in-error and is found no more. What refers to it refers to the one that stays, and a
-- report that stays has the results of both. Nothing is told by position alone: as many on both sides are each other's in
-- order, else those whose values are equal; the rest stays side by side. To be called before hl7_merge moves anything.
create or replace function hl7_results_meet(p_site uuid, p_message uuid, p_from uuid, p_to uuid) returns void
language plpgsql as $$
declare
  g record;
  m record;
  r record;
  ours hl7_result;
  theirs hl7_result;
  kept uuid[] := '{}';
  gone uuid[] := '{}';
  v_body text;
  results text;
begin
  for g in
    select h.type, h.what, h.numbers, h.at, array_agg(h.id order by h.place) as ids,
           h.at = '' and h.filler = '' and h.placer = '' as is_unidentified
      from hl7_result h
     where h.site_id = p_site and h.patient_id = p_from
       and exists (select from hl7_result o where o.site_id = p_site and o.patient_id = p_to and o.type = h.type
                      and o.what = h.what)
     group by h.type, h.what, h.numbers, h.at, h.filler, h.placer
     -- Those that say more of when first: what says nothing takes what is left.
     order by length(h.at) desc, h.at, h.numbers
  loop
    for m in
      with candidate as (
        select o.id, o.at, o.place, bool_or(o.at = g.at) over () as is_any_exact
          from hl7_result o
         where o.site_id = p_site and o.patient_id = p_to and o.type = g.type and o.what = g.what
           and o.id <> all (kept) and hl7_same_order(o.numbers::json, g.numbers::json) and hl7_same_time(o.at, g.at)
      ), our as (
        select c.id, c.place, row_number() over (order by c.place, c.id) as n from candidate c
         where c.at = g.at or not c.is_any_exact
      ), their as (
        select u.id, u.n from unnest(g.ids) with ordinality u(id, n)
      ), said as (
        select x.is_ours, x.id, hl7_value_text(b.body) as value,
               row_number() over (partition by x.is_ours, hl7_value_text(b.body) order by x.n) as n
          from (select true as is_ours, o.id, o.n from our o union all select false, t.id, t.n from their t) x
          join resource b on b.site_id = p_site and b.type = g.type and b.id = x.id
         where g.type = 'Observation'
      ), is_plain as (
        select (select count(*) from our) = (select count(*) from their) and not g.is_unidentified
           and (select count(distinct c.at) from candidate c where c.at = g.at or not c.is_any_exact) = 1 as yes
      )
      select o.id as one, t.id as other from our o join their t on t.n = o.n where (select yes from is_plain)
      union all
      select o.id, t.id from said o join said t on t.value = o.value and t.n = o.n
       where o.is_ours and not t.is_ours and not (select yes from is_plain)
    loop
      if coalesce(hl7_order_of_result(p_site, g.type, m.other) collate "C" > hl7_order_of_result(p_site, g.type, m.one)
           collate "C", false) then
        kept := kept || m.other;
        gone := gone || m.one;
      else
        kept := kept || m.one;
        gone := gone || m.other;
      end if;
      -- The one that stays takes the survivor's place, and knows what either did of its key.
      select x.* into ours from hl7_result x where x.site_id = p_site and x.type = g.type and x.id = m.one;
      select x.* into theirs from hl7_result x where x.site_id = p_site and x.type = g.type and x.id = m.other;
      delete from hl7_result x where x.site_id = p_site and x.type = g.type and x.id in (m.one, m.other);
      ours.id := kept[cardinality(kept)];
      insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
        values (p_site, ours.type, ours.id, p_to, ours.what, coalesce(nullif(ours.filler, ''), theirs.filler),
          coalesce(nullif(ours.placer, ''), theirs.placer),
          case when length(theirs.at) > length(ours.at) then theirs.at else ours.at end, ours.place,
          format('{"filler":%s,"placer":%s,"own":%s}',
            case when ours.filler = '' then theirs.numbers else ours.numbers end::json -> 'filler',
            case when ours.placer = '' then theirs.numbers else ours.numbers end::json -> 'placer', ours.numbers::json -> 'own'))
        on conflict do nothing;
      if not found then
        -- Another result has just this key.
        insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
          values (p_site, ours.type, ours.id, p_to, ours.what, ours.filler, ours.placer, ours.at, ours.place, ours.numbers);
      end if;
    end loop;
  end loop;
  if gone = '{}' then return; end if;

  -- In the order in which other writers take them. A patient's other resources refer to no result.
  for r in
    select x.type, x.id, x.body, x.id = any (gone) as is_gone,
           (select b.body from resource b where b.site_id = p_site and b.type = x.type
               and b.id = gone[array_position(kept, x.id)] and x.type = 'DiagnosticReport') as other
      from resource x
     where x.site_id = p_site and x.patient_id in (p_from, p_to) and x.type in ('Observation', 'DiagnosticReport')
     order by x.type, x.id for no key update of x
  loop
    if r.is_gone then
      perform hl7_body_write(p_site, p_message, r.type, r.id, json_member_set(r.body, 'status', '"entered-in-error"'));
      update report x set state = 'draft' where x.site_id = p_site and x.report_id = r.id and r.type = 'DiagnosticReport';
      continue;
    end if;
    v_body := hl7_references_set(r.body, gone, kept);
    if r.type = 'DiagnosticReport' and (v_body <> r.body or r.other is not null) then
      select '[' || string_agg(e.item, ',' order by e.n) || ']' into results
        from (
          select l.item, min(l.n) as n
            from (
              select u.value::text as item, u.n
                from json_array_elements(('{' || v_body || '}')::json -> 'result') with ordinality u(value, n)
              union all
              select u.value::text, 1000000 + u.n
                from json_array_elements(('{' || hl7_references_set(r.other, gone, kept) || '}')::json -> 'result')
                     with ordinality u(value, n)) l
           group by l.item) e;
      v_body := case when results is null then v_body else json_member_set(v_body, 'result', results) end;
    end if;
    if v_body <> r.body then
      perform hl7_body_write(p_site, p_message, r.type, r.id, v_body);
    end if;
  end loop;
end $$;
