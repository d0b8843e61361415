-- The last four bits of the keys of a type (token_key), which are those of code_key | system_key in each row of resource_token.
create or replace function token_type(p_type text) returns bigint language sql immutable parallel safe as $$
  select array_position(array['Patient', 'Condition', 'AllergyIntolerance', 'Observation', 'Procedure', 'DiagnosticReport',
           'DocumentReference', 'Group'], p_type)::bigint
$$;
