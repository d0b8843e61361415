-- Deletes the data whose retention at a site has ended, the oldest first, p_limit of each kind at most. It deletes at most 64 MiB of
-- messages with their documents, but at least one message. Rows that another transaction has locked stay until another day. It runs
-- with the owner's rights, since the application cannot delete, and only follows the settings of the site.
--   - p_now: of retention_until.
--   - p_after: the position of the last step in the attempts, null at first.
--
-- Returns one row: how many of each kind it deleted, its position in the attempts, and whether nothing is left.
create or replace function retention_step(p_site uuid, p_now timestamptz, p_after timestamptz, p_limit integer)
returns table (messages integer, attempts integer, refusals integer, usage integer, audit integer,
  attempts_after timestamptz, is_done boolean)
language plpgsql
security definer
set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  -- PostgreSQL deletes so many bytes of documents in a fraction of a second (edge/store/time-limits.ts).
  most_bytes constant bigint := 64 * 1024 * 1024;
  until record;
  due integer;
  ids uuid[];
  numbers integer[];
  old timestamptz[];
  of_keys integer;
  are_rows_left boolean;
  documents text[];
begin
  -- A transaction that sets a legal hold waits for this step, and no step follows it.
  perform from site s where s.site_id = p_site for share;
  select u.* into until from retention_until(p_site, p_now) u;
  if not found then
    return query select 0, 0, 0, 0, 0, p_after, true;
    return;
  end if;

  -- Messages that failed because of a gateway error wait for the fix.
  select array_agg(x.message_id) filter (where x.bytes <= most_bytes or x.place = 1), count(*) into ids, due
    from (
      select d.message_id, row_number() over w as place, sum(octet_length(d.raw) + (
               select coalesce(sum(octet_length(c.content)), 0) from document_use u
                 join document c on c.site_id = u.site_id and c.sha256 = u.sha256
                where u.site_id = p_site and u.type = 'Hl7Message' and u.id = d.message_id)) over w as bytes
        from (
          select m.message_id, m.received_at, m.raw from hl7_message m
           where m.site_id = p_site and m.raw is not null and m.received_at < until.messages and not m.has_failed
           order by m.received_at, m.message_id limit p_limit for update skip locked) d
      window w as (order by d.received_at, d.message_id)) x;
  ids := coalesce(ids, '{}');
  messages := cardinality(ids);
  documents := hl7_messages_forget(p_site, ids);

  select array_agg(x.message_id order by x.at), array_agg(x.number order by x.at), array_agg(x.at order by x.at)
    into ids, numbers, old
    from (select a.message_id, a.number, a.at from hl7_attempt a
           where a.site_id = p_site and a.number > 1 and a.at < until.attempts and (p_after is null or a.at > p_after)
           order by a.at limit p_limit) x;
  -- These attempts stay: the newest, the first AA, whose ACK answers the sender again, and all of a message that will be retried.
  delete from hl7_attempt a
   where a.site_id = p_site and a.at < until.attempts
     and (a.message_id, a.number) in (
       select * from unnest(ids, numbers) union select i, 1 from unnest(ids) i)
     and exists (select from hl7_attempt n
                  where n.site_id = a.site_id and n.message_id = a.message_id and n.number > a.number)
     and (a.outcome <> 'AA' or exists (
       select from hl7_attempt f where f.site_id = a.site_id and f.message_id = a.message_id and f.outcome = 'AA'
          and f.number < a.number))
     and not exists (select from hl7_message m
                      where m.site_id = a.site_id and m.message_id = a.message_id and m.has_failed);
  get diagnostics attempts = row_count;
  attempts_after := coalesce(old[cardinality(old)], p_after);

  delete from refusal r where (r.site_id, r.client_id, r.since, r.surface, r.answer, r.code, r.reason_key) in (
    select o.site_id, o.client_id, o.since, o.surface, o.answer, o.code, o.reason_key from refusal o
     where o.site_id = p_site and o.since < until.attempts order by o.since limit p_limit for update skip locked);
  get diagnostics refusals = row_count;
  delete from usage u where (u.site_id, u.bucket, u.surface, u.outcome) in (
    select o.site_id, o.bucket, o.surface, o.outcome from usage o where o.site_id = p_site and o.bucket < until.usage
     order by o.bucket limit p_limit for update skip locked);
  get diagnostics usage = row_count;
  -- The usual activity of an hour needs five weeks of counts. A sender without activity since then is deleted, except
  -- the newest of its key.
  delete from key_usage u where (u.site_id, u.client_id, u.bucket, u.surface, u.application, u.facility) in (
    select o.site_id, o.client_id, o.bucket, o.surface, o.application, o.facility from key_usage o
     where o.site_id = p_site and o.bucket < greatest(until.usage, least(p_now, clock_timestamp()) - interval '36 days')
     order by o.bucket limit p_limit for update skip locked);
  get diagnostics of_keys = row_count;
  delete from feed f
   where f.site_id = p_site and f.last_at < least(p_now, clock_timestamp()) - interval '36 days'
     and exists (select from feed n
                  where n.site_id = f.site_id and n.client_id = f.client_id and n.surface = f.surface and n.last_at > f.last_at);
  -- A site has at most 5,000 (code_misses_note). They have texts of senders.
  delete from code_miss m where m.site_id = p_site and m.last_at < until.attempts;
  -- Since their end they are not found any more (bulk_export_step).
  delete from bulk_export x where x.site_id = p_site and x.expires_at < clock_timestamp();
  are_rows_left := code_tables_forget(p_site, 50 * p_limit);
  audit := audit_forget(p_site, until.audit, p_limit);
  perform documents_forget(p_site, documents);

  is_done := greatest(due, coalesce(cardinality(old), 0), refusals, usage, audit, of_keys) < p_limit and messages = due and not are_rows_left;
  return next;
end $$;
