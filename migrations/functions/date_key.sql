-- The key of a date parameter in resource_date: sixteen for each type, and the number of the parameter. Null for others. Most
-- resources are Observations, and PostgreSQL fills the pages at the end of an index best.
create or replace function date_key(p_type text, p_param text) returns smallint language sql immutable parallel safe as $$
  select (16 * array_position(array['Patient', 'Condition', 'AllergyIntolerance', 'Procedure', 'DiagnosticReport',
            'DocumentReference', 'Group', 'Observation'], p_type)
          + array_position(array['date', 'period', 'onset-date', 'recorded-date'], p_param))::smallint
$$;
