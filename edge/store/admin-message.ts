/** HL7 messages as administrators see them: the log, and one message with what became of it. */
import type { Query } from '../deps.ts';
import { auditLine } from './audit.ts';
import type { AttemptReason } from './hl7.ts';
import { instantOf, raw, read } from './sql.ts';
import type { UnnamedName } from './unnamed-name.ts';

export interface MessageFilter {
  /** MSH-9 from its start: `ADT`, `ADT^A04`; '' for all. */
  readonly type: string;
  readonly outcome: string;
  readonly clientId: string;
  /** MSH-10 exactly; where no message has it, part of the sending application or facility. */
  readonly text: string;
  /** Instants, '' for open. */
  readonly from: string;
  readonly to: string;
  /** Only those that have it without a URI. */
  readonly unnamed?: UnnamedName | undefined;
}

export interface MessageRow {
  readonly message_id: string;
  readonly received_at: string;
  readonly source: 'http' | 'mllp';
  readonly source_address: string;
  readonly tls_subject: string | null;
  readonly client_id: string;
  readonly key_name: string;
  readonly sending_application: string;
  readonly sending_facility: string;
  readonly control_id: string;
  readonly message_type: string;
  readonly outcome: 'AA' | 'AE' | 'AR';
}

const COLUMNS = `m.message_id, ${instantOf('m.received_at', 'microsecond')} as received_at,
      m.source, m.source_address, m.tls_subject, m.client_id, k.name as key_name, m.sending_application, m.sending_facility,
      m.control_id, m.message_type, m.outcome`;

/** One page of the messages that fulfil `condition`; parameters as `listMessages` gives them. */
const page = (condition: string) => `(select ${COLUMNS}
      from hl7_message m join api_key k on k.site_id = m.site_id and k.client_id = m.client_id
     where m.site_id = $1::uuid and ($2 = '' or starts_with(m.message_type, $2)) and ($3 = '' or m.outcome = $3)
       and ($4 = '' or m.client_id = $4) and ${condition}
       and ($6::timestamptz is null or m.received_at >= $6::timestamptz)
       and ($7::timestamptz is null or m.received_at < $7::timestamptz)
       and ($8::timestamptz is null or (m.received_at, m.message_id) < ($8::timestamptz, $9::uuid))
     order by m.received_at desc, m.message_id desc limit $10::int)`;

const BY_CONTROL_ID = 'm.control_id = $5';
/** Added only where a name is asked for, so that the plan is made for it. */
const HAS_NAME = `m.message_id in (select u.message_id from unnamed_name u
       where u.site_id = $1::uuid and u.kind = $11 and u.name = $12)`;
/** Only where no message has the text as its control id: that is found by an index, a part of a name is not. */
const BY_SENDER = `strpos(lower(m.sending_application || ' ' || m.sending_facility), lower($5)) > 0
       and not exists (select from hl7_message x where x.site_id = $1::uuid and x.control_id = $5)`;

/**
 * Messages of a site, the newest first.
 *
 * @param after received_at and message_id of the last one of the page before, or null
 */
export function listMessages(
  site: string,
  filter: MessageFilter,
  after: readonly string[] | null,
  limit: number,
): Query<MessageRow> {
  const { unnamed } = filter;
  const found = (condition: string) => page(unnamed === undefined ? condition : `${condition} and ${HAS_NAME}`);
  const text =
    filter.text === ''
      ? found(`$5 = ''`)
      : `select * from (${found(BY_CONTROL_ID)} union all ${found(BY_SENDER)}) q
         order by received_at desc, message_id desc limit $10::int`;
  return {
    text,
    params: [
      site,
      filter.type,
      filter.outcome,
      filter.clientId,
      filter.text,
      filter.from === '' ? null : filter.from,
      filter.to === '' ? null : filter.to,
      after?.[0] ?? null,
      after?.[1] ?? null,
      limit,
      ...(unnamed === undefined ? [] : [unnamed.kind, unnamed.name]),
    ],
    reads: true,
  };
}

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
    text: `select ${COLUMNS}, m.request_id, m.sha256, encode(m.raw, 'base64') as raw, encode(m.ack, 'base64') as ack,
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
