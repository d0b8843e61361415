-- What an Observation says was observed, as a text that is equal when it is, digits included: p_body is that of table
-- resource. As valueText in edge/hl7/results/value-text.ts.
create or replace function hl7_value_text(p_body text) returns text
language sql immutable as $$
  select coalesce(string_agg(m.key || m.value::text, ',' order by m.key), '')
    from jsonb_each(('{' || p_body || '}')::jsonb) m
   where m.key ~ '^value[A-Z]' or m.key = 'component'
      or m.key = 'extension' and jsonb_path_exists(m.value, '$[*].valueAttachment')
$$;
