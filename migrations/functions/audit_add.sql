-- Writes the one row of an access from what its statements have noted (audit_note); nothing where they noted nothing and
-- nothing was searched: then no data was reached.
--   p_entry { actorKind, actor, clientId, address, requestId: as the columns of audit,
--     action: null for what was noted, which is then of one kind,
--     searched: names of the parameters of a search, which counts also where it found nothing; null for none }
-- Settings: migrations/README.md, "Plans".
create or replace function audit_add(p_site uuid, p_entry json) returns void language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  noted text := nullif(current_setting('gateway.audit', true), '');
  e record;
begin
  select x.* into e from json_to_record(p_entry) as x("actorKind" text, actor text, "clientId" text, address text,
    "requestId" text, action text, searched text[]);
  if noted is null and e.searched is null then
    return;
  end if;
  with line as materialized (
    select split_part(l, ' ', 1) as action, split_part(l, ' ', 2) as type, split_part(l, ' ', 3)::uuid as id,
           nullif(split_part(l, ' ', 4), '')::uuid as patient
      from string_to_table(noted, E'\n') l
  ), done as (
    select array_agg(distinct x.action order by x.action) as actions,
           -- The API key that was made or changed.
           (select 'svc-' || l.id from line l where l.type = 'ApiKey') as client_id
      from (select l.action from line l union all select 'search' where e.searched is not null) x
  ), touched as (
    select coalesce(array_agg(x.type order by x.type, x.id), '{}') as types,
           coalesce(array_agg(x.id order by x.type, x.id), '{}') as ids
      from (select distinct l.type, l.id from line l) x
  ), concerned as (
    select coalesce(array_agg(x.patient order by x.patient), '{}') as patients
      from (select l.patient from line l where l.patient is not null
            union select l.id from line l where l.type = 'Patient') x
  )
  insert into audit (site_id, actor_kind, actor, client_id, address, request_id, action, parts, types, ids, patients,
      parameters)
    select p_site, e."actorKind", e.actor, coalesce(e."clientId", done.client_id), e.address, e."requestId",
           coalesce(e.action, done.actions[1]),
           case when e.action in ('batch', 'transaction') then done.actions else '{}' end,
           touched.types, touched.ids, concerned.patients, coalesce(e.searched, '{}')
      from done, touched, concerned;
  perform set_config('gateway.audit', '', true);
end $$;
