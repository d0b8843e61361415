-- The number of bytes of a body as document_fill returns it, without reading the documents.
create or replace function document_bytes(p_body text) returns integer language plpgsql immutable as $$
begin
  if strpos(p_body, '"data":["') = 0 then return octet_length(p_body); end if;
  return octet_length(p_body) + (
    select sum((m[1]::integer + 2) / 3 * 4)::integer from regexp_matches(p_body, '"data":\["[A-Za-z0-9_-]{43}",([0-9]+)\]', 'g') m);
end $$;
