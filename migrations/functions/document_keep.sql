-- A new body with tokens instead of those documents that the body before it has as tokens. So a client's write does not store
-- such a document again.
create or replace function document_keep(p_before text, p_body text) returns text language plpgsql immutable as $$
declare
  known text[];
begin
  if strpos(p_before, '"data":["') = 0 or strpos(p_body, '"data":"') = 0 then return p_body; end if;
  known := array(select m[1] from regexp_matches(p_before, '"data":\["([A-Za-z0-9_-]{43})",[0-9]+\]', 'g') m);
  return (
    select string_agg(
             s.piece || case when h.sha256 = any (known) then '"data":["' || h.sha256 || '",' || octet_length(decode(h.data, 'base64')) || ']'
                             else coalesce('"data":"' || h.data || '"', '') end, '' order by s.n)
      from regexp_split_to_table(p_body, '"data":"[A-Za-z0-9+/=]+"') with ordinality s(piece, n)
      left join (
        select f.n, f.found[1] as data,
               rtrim(translate(encode(sha256(convert_to(f.found[1], 'UTF8')), 'base64'), '+/', '-_'), '=') as sha256
          from regexp_matches(p_body, '"data":"([A-Za-z0-9+/=]+)"', 'g') with ordinality f(found, n)) h using (n));
end $$;
