-- Writes an API key and its history in one statement. If two administrators edit one version, the second edit is
-- rejected.
--   - p_expected: null to create, else the versions the editor has seen; '{}' for any.
--   - p_record: to create, every member of the key by its column's name; to change, the members that change. The
--     function writes exactly these columns. To add a member, add its column to the table. The live rules (hl7_rules) stay as they are,
--     and the history does not have them.
--   - p_owned: thumbprints of the inline JWKS, which belong to this key from now on.
--   - p_foreign: thumbprints of a JWKS URI, which must not belong to another key.
--   - outcome: created, updated, unchanged, missing (no such key or site) or version (and nothing was written).
--
-- Raises GW423 with the 0-based positions of Allowed IPs that are not assigned to the site for MLLP (site_address).
-- Raises GW409 with the 0-based positions in p_owned || p_foreign of the public keys that another API key has.
create or replace function api_key_write(p_site uuid, p_client text, p_expected integer[], p_by text, p_record json,
  p_owned text[], p_foreign text[])
returns table (outcome text, version integer)
language plpgsql as $$
#variable_conflict use_column
declare
  cur api_key;
  new_key api_key;
  -- The names in p_record, quoted.
  columns text;
  conflicts json;
begin
  select string_agg(quote_ident(c), ', ') into columns from json_object_keys(p_record) c;
  if p_expected is null then
    if not exists (select from site s where s.site_id = p_site) then
      return query select 'missing', 0;
      return;
    end if;
    execute format('insert into api_key (site_id, client_id, %1$s)
      select $1, $2, %1$s from json_populate_record(null::api_key, $3) returning *', columns)
      into new_key using p_site, p_client, p_record;
  else
    select k.* into cur from api_key k where k.site_id = p_site and k.client_id = p_client for no key update;
    if not found then
      return query select 'missing', 0;
      return;
    end if;
    if cardinality(p_expected) > 0 and not cur.version = any (p_expected) then
      return query select 'version', cur.version;
      return;
    end if;
    cur.hl7_rules := null;
    if json_populate_record(cur, p_record) is not distinct from cur then
      return query select 'unchanged', cur.version;
      return;
    end if;
    execute format('update api_key set (%1$s, version, updated_at) =
        (select %1$s, $4, now() from json_populate_record(null::api_key, $3))
      where site_id = $1 and client_id = $2 returning *', columns)
      into new_key using p_site, p_client, p_record, cur.version + 1;
  end if;

  conflicts := thumbprints_write(p_site, p_client, p_owned, p_foreign);
  if conflicts is not null then
    raise exception 'a public key belongs to another API key' using errcode = 'GW409', detail = conflicts::text;
  end if;

  if 'hl7-mllp' = any (new_key.protocols) and (p_expected is null or (cur.status <> 'active' and new_key.status = 'active')
      or (cur.protocols, cur.allowed_ips, cur.hl7_sender_application, cur.hl7_sender_facility, cur.tls_subject)
        is distinct from (new_key.protocols, new_key.allowed_ips, new_key.hl7_sender_application,
          new_key.hl7_sender_facility, new_key.tls_subject)) then
    -- The lock keeps the site's addresses assigned to it until this key is written.
    perform site_address_lock(false);
    conflicts := site_addresses_foreign(p_site, new_key.allowed_ips, new_key.hl7_sender_application, new_key.hl7_sender_facility,
      new_key.tls_subject);
    if conflicts is not null then
      raise exception 'addresses of the key are not the site''s' using errcode = 'GW423', detail = conflicts::text;
    end if;
  end if;

  new_key.hl7_rules := null;
  insert into api_key_change (site_id, client_id, version, by, before, after)
    values (p_site, p_client, new_key.version, p_by, case when p_expected is null then null else to_json(cur) end, to_json(new_key));
  perform audit_note(array[row(case when p_expected is null then 'key-created' else 'key-changed' end,
    'ApiKey', substr(p_client, 5), null)::audit_item]);
  return query select case when p_expected is null then 'created' else 'updated' end, new_key.version;
end $$;
