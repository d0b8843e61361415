/** The commit stores a message with its answer and all its effects, or nothing. */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Database, Query } from '../../deps.ts';
import { auditEntry, type AuditBy } from '../../store/audit.ts';
import { readSnapshotRow, statesOf } from '../../store/hl7-snapshot.ts';
import {
  bytesOfHex,
  commitMessage,
  FAILED,
  type AttemptReason,
  type CommitRow,
  type NewCommit,
  type NewMessage,
} from '../../store/hl7.ts';
import type { Decision } from './decide.ts';
import { keysOf } from './message-keys.ts';
import type { Sender } from './sender/sender.ts';
import { isBounded, loadChanged, type LoadDeps, type Loaded, type NoSender, type Received } from './snapshot/load.ts';

export interface MessageSource {
  readonly kind: 'http' | 'mllp';
  readonly address: string;
  /** The subject of the sender's certificate, as the sidecar reports it (MLLP). */
  readonly tlsSubject?: string | undefined;
}

export interface CommitRequest extends Received {
  /** When the message was received, by the gateway's clock. */
  readonly beganMs: number;
  readonly source: MessageSource;
  readonly requestId: string;
}

/** One processing of a message. */
export interface Attempt {
  readonly messageId: string;
  readonly why: AttemptReason;
  /** The person who asked for a replay, else null. */
  readonly actor: string | null;
  /** The person's reason. */
  readonly comment?: string;
  /** The job that it is a part of. */
  readonly jobId: string | null;
}

/** `seen`: the same bytes were accepted before, and nothing was stored. */
export interface Committed {
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  /** The errors of this decision; none if it was accepted. */
  readonly refusedFor: readonly AckError[];
}

/** The snapshot has changed, and nothing was stored. */
export interface Changed {
  readonly status: 'changed';
  readonly loaded: Loaded | NoSender;
}

/** `ADT^A01` has seven characters. A malformed header may have any number. */
const MAX_TYPE_LENGTH = 64;

/** For the administrator; the ACK lists fewer. */
const MAX_KEPT_FINDINGS = 1000;

/** Stores the message if its snapshot still matches the database, else returns the current snapshot. */
export async function commit(
  deps: LoadDeps,
  request: CommitRequest,
  loaded: Loaded,
  decision: Decision,
  attempt: Attempt,
): Promise<Committed | Changed> {
  const { settings, lookup, opening, matches, isExcessive } = loaded;
  const { findings, effects, ack } = decision;
  const { site } = settings;
  const elapsedMs = Math.round(deps.now() - request.beganMs);
  const message = { ...messageOf(request, loaded, decision, attempt), elapsedMs };
  const states = isExcessive ? null : statesOf(matches);
  const stored: NewCommit = {
    opening: opening.arguments,
    site,
    message,
    raw: request.bytes,
    ack,
    lookup,
    states,
    effects,
    documents: request.documents.flatMap(({ sha256, base64 }) => (base64 === null ? [] : [sha256, base64])),
  };
  // A replay may share its transaction with other statements: the audit of the administrator.
  const isStandalone = isBounded(request, lookup) && request.sender.kind !== 'key';
  const row = await rowOf(deps.database, commitMessage(stored, isStandalone));
  if (row === undefined || row.outcome === 'changed' || row.decided === null) {
    return { status: 'changed', loaded: await loadChanged(deps, request, loaded, row) };
  }
  if (row.outcome === 'stored') deps.wake?.(site);
  if (row.outcome === 'stored' && row.matches !== null) {
    deps.snapshots?.keepStored(
      { site, lookup, before: matches, effects, rows: readSnapshotRow(row).matches },
      deps.now(),
    );
  }
  const refusedFor = row.outcome === 'stored' ? findings.filter(({ severity }) => severity === 'E') : [];
  return {
    status: row.outcome,
    outcome: row.decided,
    ack: row.ack === null ? null : bytesOfHex(row.ack),
    refusedFor,
  };
}

function messageOf(
  { sender, bytes, source, requestId }: CommitRequest,
  { reading, identity, settings, sendersState, isControlIdReused }: Loaded,
  { outcome, findings }: Decision,
  { messageId, why, actor, comment, jobId }: Attempt,
): Omit<NewMessage, 'elapsedMs'> {
  const { messageType, triggerEvent } = reading.header;
  const { clientId } = settings;
  const action = why === 'received' || why === 'resent' ? 'message' : 'message-replayed';
  return {
    ...identity,
    messageId,
    clientId,
    source: source.kind,
    sourceAddress: source.address,
    tlsSubject: source.tlsSubject ?? null,
    requestId,
    type: [messageType, triggerEvent].filter(Boolean).join('^').slice(0, MAX_TYPE_LENGTH).toWellFormed(),
    outcome,
    errors: findings.slice(0, MAX_KEPT_FINDINGS),
    why,
    actor,
    comment: comment === undefined || comment === '' ? null : comment,
    jobId,
    hasFailed: findings.some(({ reason }) => reason === FAILED),
    rulesVersion: reading.rulesVersion,
    settings: settings.settingsState,
    senders: sendersState,
    isControlIdReused: why === 'received' ? isControlIdReused : null,
    keys: keysOf(reading, bytes, findings),
    audit: auditEntry({ ...actorOf(sender, source), clientId, requestId }, { action, searched: null }),
  };
}

/** The actor of the audit (edge/docs/behaviour.md, Audit). */
function actorOf(sender: Sender, { address }: MessageSource): AuditBy {
  switch (sender.kind) {
    case 'caller':
      return { kind: 'key', name: null, address };
    case 'address':
      return { kind: 'sidecar', name: sender.sidecar, address };
    case 'link':
      throw new TypeError('a link only checks messages');
    case 'key':
      if (sender.by === null) throw new TypeError('a preview is not stored');
      return sender.by;
  }
}

/** @returns undefined if a FHIR client changed one of the resources between the check and the write */
async function rowOf(database: Database, query: Query<CommitRow>): Promise<CommitRow | undefined> {
  try {
    const [row] = await database.run(query);
    return row;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'precondition-failed') return undefined;
    throw error;
  }
}
