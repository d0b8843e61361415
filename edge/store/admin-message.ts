/** One HL7 message as administrators see it, with what became of it; the log is in `message-search.ts`. */
import type { Query } from '../deps.ts';
import { auditLine } from './audit.ts';
import type { AttemptReason } from './hl7.ts';
import { instantOf, raw, read } from './sql.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message-search.ts';

export interface MessageDetailRow extends MessageRow {
  readonly request_id: string;
  readonly sha256: string;
  /** Bytes in base64; null: kept no longer. */
  readonly raw: string | null;
  readonly ack: string | null;
  /** A JSON array of the errors that were answered. */
  readonly errors: string;
  /** The character set where neither a mark nor MSH-18 names one. */
  readonly default_charset: string | null;
}

export function readStoredMessage(site: string, messageId: string): Query<MessageDetailRow> {
  return {
    text: `select ${MESSAGE_COLUMNS}, m.request_id, m.sha256, encode(m.raw, 'base64') as raw, encode(m.ack, 'base64') as ack,
      m.errors::text as errors, coalesce(k.hl7_default_charset, s.default_charset) as default_charset
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
  readonly version: number;
  /** The current one, which may be later than the one this message made. */
  readonly current_version: number;
}

/** The resources that a message made or changed. */
export function resourcesOfMessage(site: string, messageId: string): Query<MessageResourceRow> {
  return read<MessageResourceRow>`select m.type, m.id, m.version, r.version as current_version
    from hl7_message_resource m join resource r on r.site_id = m.site_id and r.type = m.type and r.id = m.id
    where m.site_id = ${site}::uuid and m.message_id = ${messageId}::uuid order by m.type <> 'Patient', m.type, m.id
    limit 1000`;
}

/** Notes for the audit that a message is shown, with what it made and whom that concerns; nothing where there is none. */
export const noteMessageViewed = (site: string, messageId: string): Query =>
  read`select audit_note(array(
    select 'message-viewed Hl7Message ' || m.message_id from hl7_message m
     where m.message_id = ${messageId}::uuid and m.site_id = ${site}::uuid
    union all
    select ${raw(auditLine('message-viewed', 'r'))}
      from hl7_message_resource m join resource r on r.site_id = m.site_id and r.type = m.type and r.id = m.id
     where m.message_id = ${messageId}::uuid and m.site_id = ${site}::uuid))`;

export interface AttemptRow {
  readonly number: number;
  readonly at: string;
  readonly why: AttemptReason;
  readonly actor: string | null;
  readonly comment: string | null;
  readonly request_id: string;
  readonly outcome: 'AA' | 'AE' | 'AR';
  /** Base64. */
  readonly ack: string | null;
  /** A JSON array. */
  readonly errors: string;
}

/** What was decided about a message each time, in order: of very many, the first ten and the newest hundred, as they are kept. */
export function attemptsOfMessage(site: string, messageId: string): Query<AttemptRow> {
  return read<AttemptRow>`select a.number, ${raw(instantOf('a.at'))} as at, a.why, a.actor, a.comment, a.request_id, a.outcome,
      encode(a.ack, 'base64') as ack, a.errors::text as errors
    from hl7_attempt a
    where a.site_id = ${site}::uuid and a.message_id = ${messageId}::uuid
      and (a.number <= 10 or a.number > (select max(n.number) - 100 from hl7_attempt n
                                          where n.site_id = a.site_id and n.message_id = a.message_id))
    order by a.number`;
}
