-- Deletes the bytes of messages and their answers. The row of an accepted message stays, with its first attempt that
-- was AA, so that the same bytes are never processed twice. A message that was never accepted is deleted with all rows
-- that refer to it; if it is sent again, it is a new message. The caller has locked the messages' rows, and has the
-- owner's rights. Returns the documents of the messages, for documents_forget.
create or replace function hl7_messages_forget(p_site uuid, p_messages uuid[]) returns text[] language plpgsql as $$
declare
  accepted uuid[] := array(
    select m from unnest(p_messages) m
     where exists (select from hl7_attempt a where a.site_id = p_site and a.message_id = m and a.outcome = 'AA'));
  refused uuid[] := array(select m from unnest(p_messages) m where m <> all (accepted));
  documents text[];
begin
  with gone as (
    delete from document_use u where u.site_id = p_site and u.type = 'Hl7Message' and u.id = any (p_messages) returning u.sha256)
  select coalesce(array_agg(distinct g.sha256), '{}') into documents from gone g;
  delete from hl7_message_key k where k.site_id = p_site and k.message_id = any (p_messages);
  delete from unmapped_name u where u.site_id = p_site and u.message_id = any (p_messages);
  delete from hl7_attempt a
   where a.site_id = p_site and a.message_id = any (accepted)
     and a.number <> (select min(f.number) from hl7_attempt f
                       where f.site_id = a.site_id and f.message_id = a.message_id and f.outcome = 'AA');
  update hl7_attempt a set ack = null, errors = '[]', comment = null
   where a.site_id = p_site and a.message_id = any (accepted);
  update hl7_message m
     set raw = null, errors = '[]', has_failed = false, forgotten_at = coalesce(m.forgotten_at, now())
   where m.site_id = p_site and m.message_id = any (accepted);
  delete from issue_message x where x.site_id = p_site and x.message_id = any (p_messages);
  update attention x set message_id = null where x.site_id = p_site and x.message_id = any (refused);
  delete from hl7_attempt a where a.site_id = p_site and a.message_id = any (refused);
  delete from hl7_message m where m.site_id = p_site and m.message_id = any (refused);
  return documents;
end $$;
