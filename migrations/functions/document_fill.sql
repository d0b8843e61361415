-- A body with the base64 of its documents (0003_resource.sql, table document). Reads the site of the transaction.
create or replace function document_fill(p_body text) returns text language plpgsql stable as $$
begin
  if strpos(p_body, '"data":["') = 0 then return p_body; end if;
  -- In pieces, because each replacement in the text would copy all of it.
  return (
    select string_agg(s.piece || coalesce('"data":"' || replace(encode(d.content, 'base64'), E'\n', '') || '"', ''), ''
                      order by s.n)
      from regexp_split_to_table(p_body, '"data":\["[A-Za-z0-9_-]{43}",[0-9]+\]') with ordinality s(piece, n)
      left join regexp_matches(p_body, '"data":\["([A-Za-z0-9_-]{43})",[0-9]+\]', 'g') with ordinality m(found, n) using (n)
      left join document d
        on d.site_id = nullif(current_setting('gateway.site', true), '')::uuid and d.sha256 = m.found[1]);
end $$;
