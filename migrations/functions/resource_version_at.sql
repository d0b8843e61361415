-- A resource as it was just before p_at, from its current row (p_id to p_patient). No row where it did not exist yet. A version
-- is never younger than the next one, so the current version is tried first. A statement sees a version either as the current
-- one or in the history, also while the version is being replaced.
create or replace function resource_version_at(p_site uuid, p_type text, p_id uuid, p_version integer,
  p_last_updated timestamptz, p_meta text, p_body text, p_patient uuid, p_at timestamptz)
returns table (version integer, last_updated timestamptz, meta text, body text, patient_id uuid)
language sql stable as $$
  select p_version, p_last_updated, p_meta, p_body, p_patient where p_last_updated < p_at
  union all
  (select h.version, h.last_updated, h.meta, h.body, h.patient_id
     from resource_history h
    where p_last_updated >= p_at
      and h.site_id = p_site and h.type = p_type and h.id = p_id and h.last_updated < p_at
    order by h.version desc limit 1)
$$;
