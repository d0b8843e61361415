-- Adds codes that code tables miss to the list of a site.
--   - p_misses: [{ system, code, text, application, facility, messages }], each code once.
--   - p_most: of the list. The codes with the fewest messages leave it, the oldest of them first.
create or replace function code_misses_note(p_site uuid, p_misses json, p_most integer) returns void language plpgsql as $$
begin
  -- In the order of the key, so that two processes do not wait for each other.
  insert into code_miss as m (site_id, system, code, text, application, facility, messages)
    select p_site, x.system, x.code, x.text, x.application, x.facility, x.messages
      from json_to_recordset(p_misses) as x(system text, code text, text text, application text, facility text, messages bigint)
     order by x.system, x.code
  on conflict (site_id, system, code) do update
    set text = coalesce(nullif(excluded.text, ''), m.text), application = excluded.application, facility = excluded.facility,
        messages = m.messages + excluded.messages, last_at = now();
  if (select count(*) from code_miss m where m.site_id = p_site) > p_most then
    delete from code_miss m using (
      select o.system, o.code from code_miss o
       where o.site_id = p_site
       order by o.messages desc, o.last_at desc, o.system, o.code offset p_most) gone
     where m.site_id = p_site and m.system = gone.system and m.code = gone.code;
  end if;
end $$;
