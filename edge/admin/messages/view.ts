/** Messages as the JSON API and the pages show them. */
import { decodeBase64 } from './base64.ts';
import type { AttemptRow, MessageDetailRow, MessageResourceRow } from '../../store/admin-message.ts';
import type { ListedRow, MessageRow } from '../../store/message-search.ts';
import { viewAck, viewMessage } from './segments.ts';

export function viewMessageRow(row: MessageRow) {
  return {
    messageId: row.message_id,
    receivedAt: row.received_at,
    source: row.source,
    sourceAddress: row.source_address,
    tlsSubject: row.tls_subject,
    clientId: row.client_id,
    keyName: row.key_name,
    sendingApplication: row.sending_application,
    sendingFacility: row.sending_facility,
    controlId: row.control_id,
    messageType: row.message_type,
    outcome: row.outcome,
  };
}

/** Where a message names whom was asked for. */
export interface NamedPatient {
  readonly field: string;
  /** A number as it was sent; '' for a name. */
  readonly value: string;
  readonly authority: string;
}

/** A message in the log: also how long its first answer took, and what was wrong with it. */
export function viewListedMessage(row: ListedRow) {
  const finding: MessageError | null = row.finding === null ? null : JSON.parse(row.finding);
  const named: NamedPatient[] | null = row.named === null ? null : JSON.parse(row.named);
  return { ...viewMessageRow(row), tookMs: row.took_ms, warnings: row.warnings, finding, named };
}
export type ListedMessage = ReturnType<typeof viewListedMessage>;

/** One error of the ACK: ERR-3, ERR-4, ERR-8, ERR-2. */
export interface MessageError {
  readonly code?: string;
  readonly severity?: string;
  readonly message?: string;
  readonly at?: string;
  /** ERR-5. */
  readonly reason?: string;
}

function viewAttempt({ number, at, why, actor, comment, request_id: requestId, outcome, ack, errors }: AttemptRow) {
  const found: MessageError[] = JSON.parse(errors);
  return {
    number,
    at,
    why,
    actor,
    comment,
    requestId,
    outcome,
    ack: viewAck(ack === null ? null : decodeBase64(ack)),
    errors: found,
  };
}
export type AttemptView = ReturnType<typeof viewAttempt>;

/** What stands in the place of bytes that are kept no longer. */
const FORGOTTEN: ReturnType<typeof viewMessage> = {
  text: '',
  segments: [],
  problem:
    'The bytes of this message are kept no longer, nor what was answered. The same bytes are still known when they come again.',
};

export function viewMessageDetail(
  row: MessageDetailRow,
  resources: readonly MessageResourceRow[],
  attempts: readonly AttemptRow[],
) {
  const errors: MessageError[] = JSON.parse(row.errors);
  const ack = row.ack === null ? null : decodeBase64(row.ack);
  const isForgotten = row.raw === null;
  const { text, segments, problem } =
    row.raw === null ? FORGOTTEN : viewMessage(decodeBase64(row.raw), row.default_charset);
  return {
    ...viewMessageRow(row),
    requestId: row.request_id,
    sha256: row.sha256,
    isForgotten,
    text,
    segments,
    problem,
    ack: viewAck(ack),
    errors,
    attemptCount: attempts.at(-1)?.number ?? 0,
    attempts: attempts.map(viewAttempt),
    resources: resources.map(({ type, id, version, current_version: currentVersion }) => ({
      reference: `${type}/${id}`,
      version,
      currentVersion,
    })),
  };
}
export type MessageDetail = ReturnType<typeof viewMessageDetail>;
