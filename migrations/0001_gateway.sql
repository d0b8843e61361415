-- The gateway's record. Every table of a site's data has site_id first in its primary key, and foreign keys are
-- composite, so that a row of one site cannot point at a row of another even if the code above is wrong.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Sites and API keys ---------------------------------------------------------------------------------------------

create table site (
  site_id uuid primary key,
  name text not null,
  -- IANA name; used for HL7 times that carry no offset.
  time_zone text,
  -- HL7 namespace (HD.1) to identifier system.
  assigning_authorities jsonb not null default '{}',
  default_charset text,
  processing_ids text[] not null default '{P}',
  created_at timestamptz not null default now()
);

create table api_key (
  site_id uuid not null references site,
  client_id text not null unique check (client_id ~ '^svc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  name text not null check (name <> ''),
  status text not null check (status in ('active', 'disabled')),
  jwks_uri text,
  jwks text,
  token_ttl_seconds integer not null check (token_ttl_seconds between 60 and 3600),
  allowed_scopes text[] not null default '{}',
  allowed_audiences text[] not null default '{}',
  protocols text[] not null default '{fhir}',
  allowed_ips text[] not null default '{}',
  hl7_sender_application text,
  hl7_sender_facility text,
  -- What the key knows better than its site; null: the site's.
  hl7_time_zone text,
  hl7_default_charset text,
  hl7_processing_ids text[],
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (site_id, client_id),
  check ((jwks_uri is null) <> (jwks is null))
);
create index api_key_mllp on api_key (client_id) where status = 'active' and 'hl7-mllp' = any (protocols);

-- A public key belongs to one client: RFC 7638 thumbprints of the inline JWKS.
create table api_key_thumbprint (
  thumbprint text primary key,
  site_id uuid not null,
  client_id text not null,
  foreign key (site_id, client_id) references api_key
);

create table api_key_change (
  site_id uuid not null,
  client_id text not null,
  version integer not null,
  at timestamptz not null default now(),
  by text not null,
  before json,
  after json not null,
  primary key (site_id, client_id, version),
  foreign key (site_id, client_id) references api_key
);

-- Why a token request or an MLLP message was refused, for the administrator of the key.
create table refusal (
  site_id uuid not null,
  refusal_id uuid not null,
  client_id text not null,
  surface text not null check (surface in ('token', 'mllp')),
  at timestamptz not null default now(),
  request_id text not null,
  source_address text not null,
  code text not null,
  reason text not null,
  primary key (site_id, refusal_id),
  foreign key (site_id, client_id) references api_key
);
create index refusal_of_key on refusal (site_id, client_id, refusal_id desc);

-- Tokens ----------------------------------------------------------------------------------------------------------

create table revoked_token (
  site_id uuid not null references site,
  jti text not null,
  expires_at timestamptz not null,
  primary key (site_id, jti)
);

-- Single use of client assertions where there are no Durable Objects (Deno).
create table jti_claim (
  client_id text not null,
  jti_hash text not null,
  attempt text not null,
  expires_at timestamptz not null,
  primary key (client_id, jti_hash)
);
create index jti_claim_expiry on jti_claim (expires_at);

-- The first statement of every request with an access token: raises GW401 when the key is not active or the token was
-- revoked, which rolls the whole batch back. So a disabled key is dead at the next request, without a second trip.
create function assert_caller(p_site uuid, p_client text, p_jti text) returns void language plpgsql as $$
begin
  if not exists (select from api_key k where k.site_id = p_site and k.client_id = p_client and k.status = 'active') then
    raise exception 'the API key is not active' using errcode = 'GW401';
  end if;
  if exists (select from revoked_token t where t.site_id = p_site and t.jti = p_jti) then
    raise exception 'the access token was revoked' using errcode = 'GW401';
  end if;
end $$;

-- Resources -------------------------------------------------------------------------------------------------------

-- body is the validated text of the resource's members without resourceType, id and meta; meta that of the client's
-- members of meta. Both are text that was checked, never re-serialised: 1.50 comes back as 1.50.
create table resource (
  site_id uuid not null references site,
  type text not null check (type in ('Patient', 'Condition', 'AllergyIntolerance', 'Observation', 'Procedure',
    'DiagnosticReport', 'DocumentReference')),
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  patient_id uuid,
  patient_type text generated always as (case when patient_id is null then null else 'Patient' end) stored
);
create index resource_of_patient on resource (site_id, patient_id, type, id) where patient_id is not null;
create index resource_last_updated on resource (site_id, type, last_updated, id);
-- The primary key after the indexes that hold the same columns. For a site that the statistics do not know yet the
-- planner expects one row whichever index it takes, and of equally good ones it takes the newest: this one must be.
alter table resource
  add primary key (site_id, type, id),
  add foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id);

-- The versions before the current one.
create table resource_history (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  version integer not null,
  last_updated timestamptz(3) not null,
  meta text not null,
  body text not null,
  primary key (site_id, type, id, version),
  foreign key (site_id, type, id) references resource
);

-- What is searched is extracted when it is written: narrow tables beside the content. A system that is absent is ''.
create table resource_identifier (
  site_id uuid not null,
  type text not null,
  value text not null,
  system text not null,
  id uuid not null,
  primary key (site_id, type, value, system, id),
  foreign key (site_id, type, id) references resource
);
create index resource_identifier_system on resource_identifier (site_id, type, system, id);
create index resource_identifier_of on resource_identifier (site_id, type, id);

create table resource_token (
  site_id uuid not null,
  type text not null,
  param text not null,
  code text not null,
  system text not null,
  id uuid not null,
  primary key (site_id, type, param, code, system, id),
  foreign key (site_id, type, id) references resource
);
create index resource_token_system on resource_token (site_id, type, param, system, id);
create index resource_token_of on resource_token (site_id, type, id);

-- names: every text, given and family, case and accents folded, one a line; name_sort: the first name, folded.
create table patient_search (
  site_id uuid not null,
  id uuid not null,
  type text generated always as ('Patient') stored,
  names text not null,
  name_sort text not null,
  birth_date text,
  gender text,
  primary key (site_id, id),
  foreign key (site_id, type, id) references resource (site_id, type, id)
);
create index patient_search_names on patient_search using gin (site_id, names gin_trgm_ops);
create index patient_search_name_sort on patient_search (site_id, name_sort, id);
create index patient_search_birth_date on patient_search (site_id, birth_date, id);
create index patient_search_gender on patient_search (site_id, gender, id);

-- The internal reports behind DiagnosticReport: a report belongs to a study, a study to a patient.
create table study (
  site_id uuid not null references site,
  study_id uuid not null,
  patient_id uuid,
  patient_type text generated always as (case when patient_id is null then null else 'Patient' end) stored,
  accession text,
  primary key (site_id, study_id),
  foreign key (site_id, patient_type, patient_id) references resource (site_id, type, id)
);
create unique index study_accession on study (site_id, patient_id, accession) nulls not distinct
  where accession is not null;
create index study_of_patient on study (site_id, patient_id);

create table report (
  site_id uuid not null,
  report_id uuid not null,
  type text generated always as ('DiagnosticReport') stored,
  study_id uuid not null,
  state text not null check (state in ('draft', 'completed')),
  primary key (site_id, report_id),
  foreign key (site_id, type, report_id) references resource (site_id, type, id),
  foreign key (site_id, study_id) references study
);
create index report_of_study on report (site_id, study_id, report_id);
create index report_state on report (site_id, state, report_id);

-- The key under which a value is searched: the value itself, or its digest where it would not fit an index entry
-- (PostgreSQL: a third of a page). What is written and what is asked for both pass through here.
create function search_key(p_value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(p_value) <= 600 then p_value
              else 'sha256:' || encode(sha256(convert_to(p_value, 'UTF8')), 'hex') end
$$;

-- Writes resources, all or nothing. p_rows is an array of
--   { type, id, mode: 'create' | 'update' | 'upsert' | 'keep', expect: version | null, meta, body, patient: uuid | null,
--     identifiers: [[system, value]], tokens: [[param, system, code]],
--     search: { names, nameSort, birthDate, gender } | null, report: { accession, state } | null }
-- and one row comes back for each. outcome is created, updated, unchanged or, for 'keep', matched: nothing is written,
-- the resource stays as it is (a conditional create that found it).
-- Raises, with the 0-based positions in p_rows as JSON in DETAIL:
--   GW404 update of an id the site does not have, GW412 the version is not the expected one,
--   GW422 a patient that the site does not have.
create function resource_write(p_site uuid, p_rows json)
returns table (ordinal integer, outcome text, id uuid, version integer, last_updated timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  cur resource;
  created uuid[];
  missing json;
  at timestamptz := date_trunc('milliseconds', clock_timestamp());
  study uuid;
begin
  select array_agg(x.id) filter (where x.type = 'Patient' and x.mode in ('create', 'upsert')) into created
    from json_to_recordset(p_rows) x(type text, id uuid, mode text);
  select json_agg(x.n - 1) into missing
    from rows from (json_to_recordset(p_rows) as (mode text, patient uuid)) with ordinality x(mode, patient, n)
   where x.mode <> 'keep' and x.patient is not null
     and (x.patient = any (created)) is not true
     -- The offset keeps it a look-up for each row: as a join it could read every patient of the site.
     and not exists (select from resource p
                      where p.site_id = p_site and p.type = 'Patient' and p.id = x.patient offset 0);
  if missing is not null then
    raise exception 'a referenced patient is not in the site' using errcode = 'GW422', detail = missing::text;
  end if;

  -- Patients first, for the foreign key; then by id, so that two writers lock in one order and cannot deadlock.
  for r in
    select (x.n - 1)::integer as n, x.*
      from rows from (json_to_recordset(p_rows) as (type text, id uuid, mode text, expect integer, meta text, body text,
             patient uuid, identifiers json, tokens json, search json, report json)) with ordinality
             x(type, id, mode, expect, meta, body, patient, identifiers, tokens, search, report, n)
     order by x.type <> 'Patient', x.id, x.n
  loop
    ordinal := r.n;
    id := r.id;
    cur := null;
    if r.mode <> 'create' then
      -- Not "for update": that would wait for, and deadlock with, writers whose foreign key points here.
      select c.* into cur
        from resource c where c.site_id = p_site and c.type = r.type and c.id = r.id for no key update;
      if not found and r.mode in ('update', 'keep') then
        raise exception 'no such resource' using errcode = 'GW404', detail = json_build_array(r.n)::text;
      end if;
    end if;
    if r.expect is not null and r.expect is distinct from coalesce(cur.version, 0) then
      raise exception 'another version' using errcode = 'GW412', detail = json_build_array(r.n)::text;
    end if;

    if r.mode = 'keep' or (cur.body = r.body and cur.meta = r.meta) then
      outcome := case r.mode when 'keep' then 'matched' else 'unchanged' end;
      version := cur.version;
      last_updated := cur.last_updated;
      return next;
      continue;
    end if;

    if cur.version is null then
      outcome := 'created';
      version := 1;
      last_updated := at;
      insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
        values (p_site, r.type, r.id, version, last_updated, r.meta, r.body, r.patient);
    else
      outcome := 'updated';
      version := cur.version + 1;
      last_updated := greatest(at, cur.last_updated);
      insert into resource_history (site_id, type, id, version, last_updated, meta, body)
        values (p_site, r.type, r.id, cur.version, cur.last_updated, cur.meta, cur.body);
      update resource c set version = resource_write.version, last_updated = resource_write.last_updated,
             meta = r.meta, body = r.body, patient_id = r.patient
       where c.site_id = p_site and c.type = r.type and c.id = r.id;
      delete from resource_identifier i where i.site_id = p_site and i.type = r.type and i.id = r.id;
      delete from resource_token t where t.site_id = p_site and t.type = r.type and t.id = r.id;
    end if;

    insert into resource_identifier (site_id, type, system, value, id)
      select distinct p_site, r.type, search_key(e ->> 0), search_key(e ->> 1), r.id
        from json_array_elements(r.identifiers) e;
    insert into resource_token (site_id, type, param, system, code, id)
      select distinct p_site, r.type, e ->> 0, search_key(e ->> 1), search_key(e ->> 2), r.id
        from json_array_elements(r.tokens) e;

    if r.type = 'Patient' then
      insert into patient_search (site_id, id, names, name_sort, birth_date, gender)
        values (p_site, r.id, r.search ->> 'names', r.search ->> 'nameSort', r.search ->> 'birthDate',
          r.search ->> 'gender')
        on conflict (site_id, id) do update set names = excluded.names, name_sort = excluded.name_sort,
          birth_date = excluded.birth_date, gender = excluded.gender;
    elsif r.type = 'DiagnosticReport' then
      -- Reports with one accession number share the patient's study; one without has a study of its own, with its id.
      -- A study that the last report has left stays: another writer may be about to join it.
      if r.report ->> 'accession' is null then
        insert into study as s (site_id, study_id, patient_id) values (p_site, r.id, r.patient)
          on conflict (site_id, study_id) do update set patient_id = excluded.patient_id
          returning s.study_id into study;
      else
        insert into study as s (site_id, study_id, patient_id, accession)
          values (p_site, gen_random_uuid(), r.patient, search_key(r.report ->> 'accession'))
          on conflict (site_id, patient_id, accession) where accession is not null
          do update set accession = excluded.accession
          returning s.study_id into study;
      end if;
      insert into report (site_id, report_id, study_id, state)
        values (p_site, r.id, study, r.report ->> 'state')
        on conflict (site_id, report_id) do update set study_id = excluded.study_id, state = excluded.state;
    end if;
    return next;
  end loop;
end $$;

-- HL7 v2 ----------------------------------------------------------------------------------------------------------

-- Which resource an HL7 key (filler order number, document number …) stands for.
create table hl7_identity (
  site_id uuid not null,
  type text not null,
  key text not null,
  id uuid not null,
  primary key (site_id, type, key),
  foreign key (site_id, type, id) references resource
);

create table hl7_message (
  site_id uuid not null,
  message_id uuid not null,
  client_id text not null,
  received_at timestamptz not null default now(),
  source text not null check (source in ('http', 'mllp')),
  source_address text not null,
  request_id text not null,
  sending_application text not null,
  sending_facility text not null,
  control_id text not null,
  sha256 text not null,
  message_type text not null,
  raw bytea not null,
  -- AA, AE or AR: what was decided, also where the sender asked for no ACK.
  outcome text not null check (outcome in ('AA', 'AE', 'AR')),
  ack bytea,
  errors json not null default '[]',
  primary key (site_id, message_id),
  unique (site_id, client_id, sending_application, sending_facility, control_id, sha256),
  foreign key (site_id, client_id) references api_key
);

create table hl7_message_resource (
  site_id uuid not null,
  message_id uuid not null,
  type text not null,
  id uuid not null,
  version integer not null,
  primary key (site_id, message_id, type, id),
  foreign key (site_id, message_id) references hl7_message,
  foreign key (site_id, type, id) references resource
);
create index hl7_message_resource_of on hl7_message_resource (site_id, type, id);
