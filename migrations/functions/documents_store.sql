-- Stores the documents of a message, and which message and resources need them.
--   - p_documents: the hash of each, followed by its base64; empty for a message that was stored before.
--   - p_effects: as in hl7_store.
--
-- Nothing after this function waits for another transaction: documents_forget waits for its lock.
create or replace function documents_store(p_site uuid, p_message uuid, p_documents text[], p_effects json) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(p_site || '|documents', 0));
  insert into document (site_id, sha256, content)
    select p_site, p_documents[n], decode(p_documents[n + 1], 'base64')
      from generate_series(1, cardinality(p_documents), 2) n
     where not exists (select from document x where x.site_id = p_site and x.sha256 = p_documents[n] offset 0)
    on conflict do nothing;
  insert into document_use (site_id, type, id, sha256)
    select p_site, 'Hl7Message', p_message, p_documents[n] from generate_series(1, cardinality(p_documents), 2) n
    union
    -- A statement without precedence now may become a version later.
    select p_site, x.type, x.id, m[1]
      from (select r.type, r.id, r.body as text from json_to_recordset(p_effects -> 'resources') r(type text, id uuid, body text)
            union all
            select p.type, p.id, p.fields from json_to_recordset(p_effects -> 'precedences') p(type text, id uuid, fields text)) x
     cross join regexp_matches(x.text, '"data":\["([A-Za-z0-9_-]{43})",[0-9]+\]', 'g') m
    on conflict do nothing;
end $$;
