/**
 * A message is stored with its answer and all its effects, or nothing is; and where nothing is, because something has become
 * another, the same round trip brings what it is now.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Database } from '../../deps.ts';
import {
  bytesOfHex,
  FAILED,
  foundRowsOf,
  matchesOf,
  sendersOf,
  statesOf,
  takeMessage,
  writeMessage,
  type AttemptReason,
  type FoundRows,
  type MessageIdentity,
  type NewMessage,
  type TakenRow,
  type Taking,
} from '../../store/hl7.ts';
import { type AuditBy, auditEntry } from '../../store/audit.ts';
import { senderFrom, siteOf, throughDoor, type Door, type FoundSender, type Sender } from './sender/find-sender.ts';
import type { NoKey } from './sender/select-key.ts';
import type { StoredMessage } from './snapshot/cache.ts';
import type { Decision } from './decide.ts';
import { messageOf, type Located } from './snapshot/load.ts';
import { keysOf } from './message-keys.ts';

export interface MessageSource {
  readonly kind: 'http' | 'mllp';
  readonly address: string;
  /** Of the sender's certificate (MLLP), as the sidecar vouches for it. */
  readonly tlsSubject?: string | undefined;
}

/** What is stored beside what was located and decided. */
export interface StoreRequest {
  /** Since the message was received, by the gateway's clock. */
  readonly elapsedMs: number;
  readonly sender: Sender;
  readonly bytes: Uint8Array;
  readonly source: MessageSource;
  readonly requestId: string;
}

/** As what a message is stored. */
export interface Entry {
  readonly messageId: string;
  readonly why: AttemptReason;
  /** Who asked for a replay; null where nobody did. */
  readonly actor: string | null;
  /** Why, in the words of who asked. */
  readonly comment?: string;
  /** The job that it is a part of. */
  readonly jobId: string | null;
}

export interface Stored {
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  /** What it was refused for, now. */
  readonly refusedFor: readonly AckError[];
  /** What it has left, where that was asked for. */
  readonly left: StoredMessage | undefined;
}

/** Nothing was stored. */
export interface Passed {
  readonly status: 'passed';
  /** What is there now; undefined where that is not known. */
  readonly found: FoundSender | NoKey | undefined;
}

/** `ADT^A01` has seven characters; a header that is broken may hold anything. */
const MAX_TYPE_LENGTH = 64;

/** For the administrator; the ACK lists fewer. */
const MAX_KEPT_FINDINGS = 1000;

/**
 * @param isGuess nothing was looked up for it: it writes and finds by key, and is of bounded size, as a whole request has to be
 * @param isLearnt what there is then is asked for too
 */
export async function store(
  database: Database,
  { sender, bytes, source, requestId, elapsedMs }: StoreRequest,
  located: Located,
  { outcome, findings, effects, ack }: Decision,
  { messageId, why, actor, comment, jobId }: Entry,
  { isGuess, isLearnt }: { readonly isGuess: boolean; readonly isLearnt: boolean },
): Promise<Stored | Passed> {
  const { reading, identity, settings, sendersState, isControlIdReused, matches, door } = located;
  const { messageType, triggerEvent } = reading.header;
  const message: NewMessage = {
    ...identity,
    messageId,
    clientId: settings.clientId,
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
    settings: settings.settingsState,
    senders: sendersState,
    isControlIdReused: why === 'received' ? isControlIdReused : null,
    keys: keysOf(reading.message, bytes, findings),
    elapsedMs,
    audit: auditEntry(
      { ...byWhom(sender, source), clientId: settings.clientId, requestId },
      {
        action: why === 'received' || why === 'resent' ? 'message' : 'message-replayed',
        searched: null,
      },
    ),
  };
  const taking = {
    site: settings.site,
    message,
    raw: bytes,
    ack,
    lookup: reading.lookup,
    states: statesOf(matches),
    effects,
  };
  const taken = await unlessPassed(() =>
    isGuess && door.words !== null
      ? takeWhole(database, door.words, taking, isLearnt)
      : takeInSteps(database, door, taking, identity, isLearnt),
  );
  if (taken === undefined) return { status: 'passed', found: undefined };
  const { row, found: rows } = taken;
  if (row === undefined || row.outcome === 'retry' || row.decided === null) {
    return { status: 'passed', found: await senderFrom(database, door, messageOf(located), rows) };
  }
  const left =
    isLearnt && row.outcome === 'stored'
      ? { found: located, message: messageOf(located), effects, rows: rows.matches }
      : undefined;
  const isStored = row.outcome === 'stored';
  const refusedFor = isStored ? findings.filter(({ severity }) => severity === 'E') : [];
  const told = row.ack === null ? null : bytesOfHex(row.ack);
  return { status: row.outcome, outcome: row.decided, ack: told, refusedFor, left };
}

/** What became of it, and what there is. */
interface Taken {
  readonly row: TakenRow | undefined;
  readonly found: FoundRows;
}

async function takeWhole(
  database: Database,
  words: readonly string[],
  taking: Taking,
  isLearnt: boolean,
): Promise<Taken> {
  const [row] = await database.run(writeMessage(words, taking, isLearnt));
  return { row, found: row === undefined ? { candidates: [], senders: [], matches: [] } : foundRowsOf(row) };
}

async function takeInSteps(
  database: Database,
  door: Door,
  taking: Taking,
  identity: MessageIdentity,
  isLearnt: boolean,
): Promise<Taken> {
  const { candidates, results } = await throughDoor(database, door, [
    takeMessage(taking),
    sendersOf(door.choice, identity, ['retry']),
    matchesOf(siteOf(door), taking.lookup, isLearnt ? ['retry', 'stored'] : ['retry']),
  ]);
  const [[row], senders, matches] = results;
  return { row, found: { candidates, senders, matches } };
}

/** Who has the message processed (edge/docs/behaviour.md, Audit). */
function byWhom(sender: Sender, { address }: MessageSource): AuditBy {
  switch (sender.kind) {
    case 'caller':
      return { kind: 'key', name: null, address };
    case 'address':
      return { kind: 'sidecar', name: sender.sidecar, address };
    case 'key':
      if (sender.by === null) throw new TypeError('what is only looked at is not stored');
      return sender.by;
  }
}

/** A FHIR client changed one of the resources between the check and the write: another turn. */
async function unlessPassed<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'precondition-failed') return undefined;
    throw error;
  }
}
