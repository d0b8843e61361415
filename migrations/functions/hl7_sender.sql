-- Returns the API keys of a site with their settings for messages, and the stored data of one message, as JSON of
-- SenderRow (edge/store/hl7-snapshot.ts).
--   - key: the columns of api_key that begin with hl7_.
--   - site: the row of the site.
--   - p_client: null for the keys that mllp_candidates found; senders_state is its result.
--
-- This is a function because its plan is kept. Settings: migrations/README.md, "Plans".
create or replace function hl7_sender(p_site uuid, p_client text, p_application text, p_facility text, p_control_id text,
  p_sha256 text)
returns setof json
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  keys text[] := case when p_client is null then nullif(current_setting('gateway.keys', true), '')::text[]
                      else array[p_client] end;
begin
  return query
  select row_to_json(r) from (
    select k.site_id, k.client_id, k.allowed_scopes,
           (select json_object_agg(m.key, m.value) from json_each(to_json(k)) m where starts_with(m.key, 'hl7_')) as key,
           to_json(s) as site, a.text::json as authorities, hl7_settings_state(p_site, k.client_id) as settings_state,
           current_setting('gateway.senders', true) as senders_state,
           seen.message_id as seen_id, accepted.number is not null as is_seen_accepted,
           encode(accepted.ack, 'hex') as accepted_ack,
           p_control_id <> '' and other.sha256 is not null as is_control_id_reused
      from unnest(keys) c (client_id)
     cross join lateral (
       select x.* from api_key x where x.client_id = c.client_id and x.site_id = p_site limit 1) k
     cross join lateral (select x.* from site x where x.site_id = p_site limit 1) s
     cross join lateral (select hl7_authorities(p_site, k.client_id) as text offset 0) a
      left join lateral (
       select m.message_id, m.outcome from hl7_message m
        where m.site_id = p_site and m.client_id = k.client_id and m.sending_application = p_application
          and m.sending_facility = p_facility and m.control_id = p_control_id and m.sha256 = p_sha256 limit 1) seen on true
      left join lateral (
       select t.number, t.ack from hl7_attempt t
        where t.site_id = p_site and t.message_id = seen.message_id and t.outcome = 'AA' order by t.number limit 1
      ) accepted on true
      -- Not exists (…): for that, PostgreSQL 17 reads the control ids of all messages of the site.
      left join lateral (
       select m.sha256 from hl7_message m
        where m.site_id = p_site and m.client_id = k.client_id and m.sending_application = p_application
          and m.sending_facility = p_facility and m.control_id = p_control_id and m.sha256 <> p_sha256 limit 1) other on true
     order by k.client_id) r;
end $$;
