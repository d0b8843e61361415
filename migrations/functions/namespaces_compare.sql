-- Runs after namespaces got URIs: data stored under the name is found under the URI from now on. So patients with separate
-- identifiers can match (namespaces_matching). They are listed as possible duplicates. Nothing is rewritten, so that the URI can
-- be removed again. Call it after the change, in its transaction.
--   - p_new, p_all, p_never: as in namespaces_matching.
--   - p_reason: the reason for the list entry, for the detail.
create or replace function namespaces_compare(p_site uuid, p_new jsonb, p_all jsonb, p_never text[], p_reason text)
returns void language plpgsql
set enable_seqscan = off
as $$
begin
  -- Waits for the messages that were decided with the earlier URIs. Later messages find other settings (hl7_store).
  perform pg_advisory_xact_lock(hashtextextended(p_site || '|authorities', 0));
  perform attention_add(p_site, null, json_agg(json_build_object('kind', 'possible-duplicate', 'patients',
            json_build_array(d.a, d.b), 'detail', json_build_object('reason', p_reason))))
     from namespaces_matching(p_site, p_new, p_all, p_never) d;
end $$;
