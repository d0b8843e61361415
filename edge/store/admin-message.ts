/** One HL7 message as administrators see it, with what became of it; the log is in `message-search.ts`. */
import type { Query } from '../deps.ts';
import { auditItem } from './audit.ts';
import type { AttemptReason } from './hl7.ts';
import { instantOf, raw, read } from './sql.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message-search.ts';

export interface MessageDetailRow extends MessageRow {
  /** The request id of the first attempt. */
  readonly request_id: string;
  readonly sha256: string;
  /** Bytes in base64; null: kept no longer. */
  readonly raw: string | null;
  /** The documents for which `raw` has tokens: a JSON object of base64 by hash, or null. */
  readonly documents: string | null;
  /** The answer of the last attempt. */
  readonly ack: string | null;
  /** A JSON array of the errors that were answered. */
  readonly errors: string;
  /** The character set where neither a mark nor MSH-18 names one. */
  readonly default_charset: string | null;
}

export function readStoredMessage(site: string, messageId: string): Query<MessageDetailRow> {
  return {
    text: `select ${MESSAGE_COLUMNS}, m.sha256, encode(m.raw, 'base64') as raw,
      a.request_id, encode(a.ack, 'base64') as ack,
      m.errors::text as errors, coalesce(k.hl7_default_charset, s.default_charset) as default_charset,
      (select json_object_agg(d.sha256, replace(encode(d.content, 'base64'), E'\\n', ''))::text
         from document_use u join document d on d.site_id = u.site_id and d.sha256 = u.sha256
        where u.site_id = m.site_id and u.type = 'Hl7Message' and u.id = m.message_id) as documents
      from hl7_message m join api_key k on k.site_id = m.site_id and k.client_id = m.client_id
      join site s on s.site_id = m.site_id
     cross join lateral (
       select (array_agg(t.request_id order by t.number))[1] as request_id, (array_agg(t.ack order by t.number desc))[1] as ack
         from hl7_attempt t where t.site_id = m.site_id and t.message_id = m.message_id) a
     where m.site_id = $1::uuid and m.message_id = $2::uuid`,
    params: [site, messageId],
    reads: true,
  };
}

/** The bytes for a copy for a ticket, which the audit records. `raw` is null if they were deleted. */
export function readMessageBytes(
  site: string,
  messageId: string,
): Query<Pick<MessageDetailRow, 'raw' | 'default_charset'> & { readonly placeholders: readonly string[] }> {
  return {
    text: `select encode(m.raw, 'base64') as raw, coalesce(k.hl7_default_charset, s.default_charset) as default_charset, s.placeholders,
      audit_note(array[row('message-copied', 'Hl7Message', m.message_id, null)::audit_item])
      from hl7_message m join api_key k on k.site_id = m.site_id and k.client_id = m.client_id
      join site s on s.site_id = m.site_id
     where m.site_id = $1::uuid and m.message_id = $2::uuid`,
    params: [site, messageId],
    reads: true,
  };
}

export interface MessageResourceRow {
  readonly type: string;
  readonly id: string;
  /** The version that the message wrote; where it changed nothing, the version that it found. */
  readonly version: number;
  readonly current_version: number;
  readonly is_written: boolean;
  /** Text of `version` and of the version before it; null: not asked for, too long, or no longer kept. */
  readonly after: string | null;
  readonly before: string | null;
  readonly is_long: boolean;
  /** The version or the one before it is no longer kept. */
  readonly is_forgotten: boolean;
  /** The changed members with their fields: `name PID-5 PID-9,birthDate PID-7`. */
  readonly elements: string;
}

/** Bytes of text that are compared for one version, and for all of a message. */
const MAX_TEXT = 64 * 1024;
const MAX_TEXTS = 2 * 1024 * 1024;
/** The page and the API show so many entries of one message. */
export const MAX_SHOWN_RESOURCES = 1000;

/** SQL over `x` and `r`: the text of a version that is current or in the history. */
const bodyOf = (version: string): string => `left join lateral (
          select r.body where r.version = ${version}
          union all
          select h.body from resource_history h
           where h.site_id = x.site_id and h.type = x.type and h.id = x.id and h.version = ${version}
          limit 1)`;

/**
 * Each version that a message wrote, with the version before it, and each resource that it touched without a change;
 * patients first. If there are more than `MAX_SHOWN_RESOURCES`, one row more.
 */
export function resourcesOfMessage(site: string, messageId: string): Query<MessageResourceRow> {
  return read<MessageResourceRow>`with touched as materialized (
      select x.* from hl7_message_resource x
       where x.site_id = (select ${site}::uuid) and x.message_id = ${messageId}::uuid
         and (x.is_written or not exists (
           select from hl7_message_resource o
            where o.site_id = x.site_id and o.message_id = x.message_id and o.type = x.type and o.id = x.id
              and (o.is_written or o.version > x.version)))
       order by x.type <> 'Patient', x.type, x.id, x.version
       limit ${raw(String(MAX_SHOWN_RESOURCES + 1))}
    ), texts as (
      select x.type, x.id, x.version, x.is_written, x.elements, r.version as current_version, n.body as after, o.body as before,
             coalesce(octet_length(n.body), 0) + coalesce(octet_length(o.body), 0) as bytes
        from touched x
        join resource r on r.site_id = x.site_id and r.type = x.type and r.id = x.id
        ${raw(bodyOf('x.version'))} n on x.is_written
        ${raw(bodyOf('x.version - 1'))} o on x.is_written
    ), measured as (
      select t.*, t.is_written and (t.bytes > ${raw(String(MAX_TEXT))}
               or sum(t.bytes) over (order by t.type <> 'Patient', t.type, t.id, t.version) > ${raw(String(MAX_TEXTS))}) as is_long
        from texts t
    )
    select m.type, m.id, m.version, m.current_version, m.is_written, m.is_long, m.elements,
           case when not m.is_long then m.after end as after, case when not m.is_long then m.before end as before,
           m.is_written and (m.after is null or m.version > 1 and m.before is null) as is_forgotten
      from measured m
     order by m.type <> 'Patient', m.type, m.id, m.version`;
}

/**
 * Notes for the audit that a message is shown, with its resources and the patients that they concern. Notes nothing if
 * there is no such message.
 */
export const noteMessageViewed = (site: string, messageId: string): Query =>
  read`select audit_note(array(
    select row('message-viewed', 'Hl7Message', m.message_id, null)::audit_item from hl7_message m
     where m.message_id = ${messageId}::uuid and m.site_id = (select ${site}::uuid)
    union all
    select ${raw(auditItem('message-viewed', 'r'))}
      from hl7_message_resource m join resource r on r.site_id = m.site_id and r.type = m.type and r.id = m.id
     where m.message_id = ${messageId}::uuid and m.site_id = (select ${site}::uuid)
    union all
    select ${raw(auditItem('message-viewed', 'h'))}
      from hl7_message_resource m join resource_history h on h.site_id = m.site_id and h.type = m.type and h.id = m.id
       and h.version between m.version - 1 and m.version
     where m.message_id = ${messageId}::uuid and m.site_id = (select ${site}::uuid)))`;

export interface AttemptRow {
  readonly number: number;
  readonly at: string;
  readonly why: AttemptReason;
  readonly actor: string | null;
  readonly comment: string | null;
  readonly request_id: string;
  readonly outcome: 'AA' | 'AE' | 'AR';
  /** From the receipt, or from when it was asked for, to the answer, in milliseconds. */
  readonly took_ms: number | null;
  readonly rules_version: number | null;
  /** Base64. */
  readonly ack: string | null;
  /** A JSON array. */
  readonly errors: string;
}

/**
 * The decisions about a message, in order. If there are very many, the first ten and the newest hundred are stored.
 */
export function attemptsOfMessage(site: string, messageId: string): Query<AttemptRow> {
  return read<AttemptRow>`select a.number, ${raw(instantOf('a.at'))} as at, a.why, a.actor, a.comment, a.request_id, a.outcome,
      a.took_ms, a.rules_version, encode(a.ack, 'base64') as ack, a.errors::text as errors
    from hl7_attempt a
    where a.site_id = (select ${site}::uuid) and a.message_id = ${messageId}::uuid
      and (a.number <= 10 or a.number > (select max(n.number) - 100 from hl7_attempt n
                                          where n.site_id = a.site_id and n.message_id = a.message_id))
    order by a.number`;
}

export interface WrittenByRow {
  readonly message_id: string;
  readonly received_at: string;
  readonly message_type: string;
  readonly control_id: string;
  readonly version: number;
}

/** The messages that wrote a version of a resource, the newest first. */
export function messagesOfResource(site: string, type: string, id: string): Query<WrittenByRow> {
  return read<WrittenByRow>`select m.message_id, ${raw(instantOf('m.received_at'))} as received_at, m.message_type, m.control_id, x.version
    from hl7_message_resource x join hl7_message m on m.site_id = x.site_id and m.message_id = x.message_id
   where x.site_id = (select ${site}::uuid) and x.type = ${type} and x.id = ${id}::uuid and x.is_written
   order by x.version desc limit 50`;
}
