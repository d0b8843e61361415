/**
 * HL7 messages in the database: the commit of a message with its effects (`hl7_commit` in migrations/functions), and later
 * queries.
 */
import type { AckError } from '../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../shared/hl7/error-code.ts';
import type { Query } from '../deps.ts';
import type { NewAttention } from './attention.ts';
import type { auditEntry } from './audit.ts';
import type { ResultRow } from './hl7-result.ts';
import { lookupParams, type LookupKeys, type MessageIdentity, type SnapshotRow } from './hl7-snapshot.ts';
import type { MessageKey } from './message-key.ts';
import type { ResourceWrite } from './resource.ts';
import { raw, read, sql } from './sql.ts';
import type { UnmappedName } from './unmapped-name.ts';

/** The reason of a message that the gateway failed to process. */
export const FAILED = 'gateway-failed';

/** Why a message is processed. All but `received` are about a stored message. */
export type AttemptReason =
  | 'received' // its sender sent it for the first time
  | 'resent' // its sender sent the same bytes again after they had been refused
  | 'replayed' // an administrator asked for it
  | 'forced' // an administrator asked for it although newer data exist
  | 'retried'; // by the gateway itself, after a failure

export interface NewMessage extends MessageIdentity {
  readonly messageId: string;
  readonly clientId: string;
  readonly source: 'http' | 'mllp';
  readonly sourceAddress: string;
  /** Null without a certificate. */
  readonly tlsSubject: string | null;
  readonly requestId: string;
  /** MSH-9, as far as it can be read: `ADT^A01`. */
  readonly type: string;
  readonly outcome: ApplicationCode;
  readonly errors: readonly AckError[];
  readonly why: AttemptReason;
  /** The person who asked for a replay, else null. */
  readonly actor: string | null;
  /** The person's reason. */
  readonly comment: string | null;
  /** The job that it is a part of. */
  readonly jobId: string | null;
  /** The gateway failed to process it. */
  readonly hasFailed: boolean;
  /** The version of the key's rules by which it was read; null without rules. */
  readonly rulesVersion: number | null;
  /** As of `SenderRow`. */
  readonly settings: string;
  /** As of `SenderRow`, if the key was selected among candidates; else null. */
  readonly senders: string | null;
  /** As of `SenderRow`, for a received message; else null. */
  readonly isControlIdReused: boolean | null;
  readonly audit: ReturnType<typeof auditEntry>;
  /** Its search keys. */
  readonly keys: readonly MessageKey[];
  /** Milliseconds since the receipt. */
  readonly elapsedMs: number;
}

interface MessageEffects {
  readonly results: readonly ResultRow[];
  readonly writes: readonly ResourceWrite[];
  readonly identities: readonly { readonly type: string; readonly key: string; readonly id: string }[];
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  /** Ids of two resources that a merge makes one: the removed resource and the other. */
  readonly met: readonly { readonly gone: string | null; readonly kept: string }[];
  readonly precedences: readonly { readonly type: string; readonly id: string; readonly fields: string }[];
  /** Identifiers that were only listed with a patient, and that another patient has now. */
  readonly moved: readonly { readonly patient: string; readonly authority: string; readonly value: string }[];
  readonly aliases: readonly NewAlias[];
  readonly attention: readonly NewAttention[];
  /** Each once. */
  readonly unmapped: readonly UnmappedName[];
}

/** A URI of a namespace in a key's messages. */
export interface NewAlias {
  /** As of `nameKey`. */
  readonly namespace: string;
  readonly uri: string;
  /** The message had both; else stored identifiers suggest it. */
  readonly isTaught: boolean;
}

/** A message with everything that it is stored with. */
export interface NewCommit {
  /** As of `SnapshotQuery`. */
  readonly opening: readonly string[];
  readonly site: string;
  readonly message: NewMessage;
  readonly raw: Uint8Array;
  readonly ack: Uint8Array | null;
  readonly lookup: LookupKeys;
  /** `statesOf` the matches of the snapshot; null if they were too large, so that the message is rejected. */
  readonly states: readonly string[] | null;
  readonly effects: MessageEffects;
  /** The hash of each, followed by its base64. */
  readonly documents: readonly string[];
}

/** `changed`: nothing was stored, and the row has the current snapshot. */
export interface CommitRow extends SnapshotRow {
  readonly outcome: 'stored' | 'seen' | 'changed';
  readonly decided: ApplicationCode | null;
  /** Hexadecimal. */
  readonly ack: string | null;
}

const placeholders = (count: number): string => Array.from({ length: count }, (_, n) => `$${n + 1}`).join(', ');

/**
 * Stores a message and its effects, if the snapshot that it was decided by still holds.
 *
 * @param isStandalone it finds and writes by key, and is of bounded size: then it is a separate request (Query.standalone)
 */
export function commitMessage(
  { opening, site, message, raw, ack, lookup, states, effects, documents }: NewCommit,
  isStandalone: boolean,
): Query<CommitRow> {
  // Effects also have `resources`, for a preview: here these are the writes.
  const { writes, ...others } = effects;
  const params = [
    opening,
    site,
    JSON.stringify(message),
    raw,
    ack,
    ...lookupParams(lookup),
    states,
    JSON.stringify({ ...others, resources: writes }),
    documents,
  ] as const;
  const limits = isStandalone ? 3 : 0;
  return {
    text: `select * from hl7_commit(${limits === 0 ? 'null, null, null, ' : ''}${placeholders(limits + params.length)})`,
    params,
    site,
    ...(isStandalone && { standalone: true }),
    ...(message.why === 'received' && { once: true }),
  };
}

/** Checks whether the key has sent a message with one of these hashes. */
export function wasSent(
  { site, clientId }: { readonly site: string; readonly clientId: string },
  { application, facility, controlId }: MessageIdentity,
  hashes: readonly string[],
): Query<{ readonly was_sent: boolean }> {
  return sql<{ was_sent: boolean }>`select exists (select from hl7_message m
    where m.site_id = ${site}::uuid and m.client_id = ${clientId} and m.sending_application = ${application}
      and m.sending_facility = ${facility} and m.control_id = ${controlId} and m.sha256 = any (${hashes}::text[])) as was_sent`;
}

export interface StoredMessageRow {
  readonly client_id: string;
  readonly source: 'http' | 'mllp';
  readonly source_address: string;
  readonly sha256: string;
  /** Hexadecimal; null if it was deleted. */
  readonly raw: string | null;
  /** Tokens stand for its documents. */
  readonly has_documents: boolean;
}

/** The columns of `StoredMessageRow`, of `hl7_message m`. */
export const STORED_MESSAGE = raw(
  `m.client_id, m.source, m.source_address, m.sha256, encode(m.raw, 'hex') as raw,
      exists (select from document_use u
               where u.site_id = m.site_id and u.type = 'Hl7Message' and u.id = m.message_id) as has_documents`,
);

/** A stored message, for a replay. */
export function storedMessage(site: string, messageId: string): Query<StoredMessageRow> {
  return read<StoredMessageRow>`select ${STORED_MESSAGE}
    from hl7_message m where m.site_id = ${site}::uuid and m.message_id = ${messageId}::uuid`;
}

/** The addresses of MLLP senders: the Allowed IPs of all keys with MLLP, and for `*` the addresses of the key's site. */
export function allowedIps(): Query<{ readonly range: string }> {
  return read<{ range: string }>`select range from mllp_ranges()`;
}

/** The bytes of a hexadecimal column. */
export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}
