-- The key of a code or a system of a search parameter in resource_token; 0 for ''. Its type and parameter are part of it, so that one
-- number is the condition of a search. The last four bits are the type, by which the rows of a resource are deleted (token_type).
create or replace function token_key(p_type text, p_param text, p_text text) returns bigint language sql immutable parallel safe as $$
  select case when p_text = '' then 0
              else (('x' || md5(p_type || '|' || p_param || '|' || p_text))::bit(64)::bigint & ~15::bigint) | token_type(p_type) end
$$;
