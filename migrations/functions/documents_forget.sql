-- Deletes those of the documents that nothing needs any more. It is the last statement of its caller, which has the owner's
-- rights: it waits for the messages that are storing a document (documents_store).
create or replace function documents_forget(p_site uuid, p_documents text[]) returns void language plpgsql as $$
begin
  if p_documents = '{}' then return; end if;
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|documents', 0));
  delete from document d
   where d.site_id = p_site and d.sha256 = any (p_documents)
     and not exists (select from document_use u where u.site_id = p_site and u.sha256 = d.sha256);
end $$;
