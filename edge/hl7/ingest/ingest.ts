/**
 * A message from its bytes to its ACK in two round trips: one finds the sender's settings, whether the message was seen
 * and which resources it speaks of (`lookup.ts`); the other stores it with all its effects, under a lock, or asks for
 * another turn. Nothing is acknowledged that is not stored.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import { Fault } from '../../../shared/fault.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps, Query } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { CallerIdentity } from '../../store/api-key.ts';
import { bytesOfHex, storedMessage, storeMessage, type NewMessage } from '../../store/hl7.ts';
import { decide, decideFailed, type Decision, type DecisionInput } from './decide.ts';
import {
  findForAddress,
  findForCaller,
  findForKey,
  identityOf,
  locateMessage,
  type Find,
  type Located,
  type SelectSender,
} from './locate.ts';
import type { Reading } from './reading.ts';
import { settingsOf } from '../sender/settings.ts';

/** Who sends: the bearer of an access token, or whoever an address and the header may be (MLLP). */
export type Sender =
  | { readonly kind: 'caller'; readonly caller: CallerIdentity }
  | { readonly kind: 'address'; readonly select: SelectSender };

export interface IngestRequest {
  readonly sender: Sender;
  readonly bytes: Uint8Array;
  readonly source: { readonly kind: 'http' | 'mllp'; readonly address: string };
  readonly requestId: string;
}

export interface Ingested {
  /** `seen`: these bytes were stored before, and what was decided then was decided again. */
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  /** Null where the sender asked for no ACK. */
  readonly ack: Uint8Array | null;
  readonly reading: Reading;
}

/** `ADT^A01` has seven characters; a header that is broken may hold anything. */
const MAX_TYPE_LENGTH = 64;

/** For the administrator; the ACK lists fewer. */
const MAX_KEPT_FINDINGS = 1000;

/** Each turn begins because another message about the same patient was stored meanwhile: some message always ends. */
const MAX_TURNS = 20;

/**
 * Stores a message and answers it.
 *
 * @returns undefined when no key is meant (MLLP)
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached
 */
export async function ingest(deps: Deps, request: IngestRequest): Promise<Ingested | undefined> {
  const sha256 = await sha256Of(request.bytes);
  const { sender, source } = request;
  const find =
    sender.kind === 'caller'
      ? findForCaller(deps, sender.caller, sha256)
      : findForAddress(deps, source.address, sender.select, sha256);
  return takeTurns(deps, request, find, { messageId: uuidv7(deps.now()), sha256, replay: false });
}

/**
 * Maps a stored message again, with today's settings, and keeps the new outcome and ACK: a retransmission then gets the
 * new one. For the administrator, when what made a message fail was put right.
 *
 * @throws Fault `not-found` when the site has no such message
 */
export async function reprocess(deps: Deps, site: string, messageId: string, requestId: string): Promise<Ingested> {
  const [message] = await deps.database.run(storedMessage(site, messageId));
  if (message === undefined) throw new Fault('not-found', 'no such message');
  const bytes = bytesOfHex(message.raw);
  const sha256 = await sha256Of(bytes);
  const request = { bytes, requestId, source: { kind: message.source, address: message.source_address } };
  const find = findForKey(deps, site, message.client_id, sha256);
  const ingested = await takeTurns(deps, request, find, { messageId, sha256, replay: true });
  if (ingested === undefined) throw new Fault('not-found', 'no such API key');
  return ingested;
}

export interface DryRun {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** What would be created or changed, without version; ids of new resources are not those they will get. */
  readonly resources: readonly JsonObject[];
  readonly reading: Reading;
}

/** The same path without storing anything, for the administrator's workbench: as if the key sent these bytes now. */
export async function dryRun(
  deps: Deps,
  key: { readonly site: string; readonly clientId: string },
  bytes: Uint8Array,
  requestId: string,
): Promise<DryRun> {
  const find = findForKey(deps, key.site, key.clientId, await sha256Of(bytes));
  const located = await locateMessage(bytes, find);
  if (located === undefined) throw new Fault('not-found', 'no such API key');
  const decision = decide(decisionInput(deps, located, uuidv7(deps.now()), requestId, false));
  const { outcome, ack, findings, effects } = decision;
  return { outcome, ack, findings, resources: effects.resources, reading: located.reading };
}

interface Turn {
  readonly messageId: string;
  readonly sha256: string;
  readonly replay: boolean;
}

type TurnRequest = Pick<IngestRequest, 'bytes' | 'source' | 'requestId'>;

async function takeTurns(deps: Deps, request: TurnRequest, find: Find, first: Turn): Promise<Ingested | undefined> {
  let turn = first;
  for (let count = 0; count < MAX_TURNS; count += 1) {
    const located = await locateMessage(request.bytes, find);
    if (located === undefined) return undefined;
    const { reading, context } = located;
    const { seen_id: seenId, seen_outcome: outcome, seen_ack: ack, has_seen_failed: hasFailed } = context.sender;
    if (seenId !== null && outcome !== null && !turn.replay) {
      if (!hasFailed) return { status: 'seen', outcome, ack: bytesOrNull(ack), reading };
      turn = { ...turn, messageId: seenId, replay: true };
    }
    const input = decisionInput(deps, located, turn.messageId, request.requestId, turn.replay);
    const stored = await storeDecision(deps, request, located, input, turn);
    if (stored !== undefined) return { ...stored, reading };
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

function decisionInput(
  deps: Deps,
  { reading, context }: Located,
  messageId: string,
  requestId: string,
  isReplay: boolean,
): DecisionInput {
  const { sender, found } = context;
  const isControlIdReused = sender.is_control_id_reused && !isReplay;
  const settings = settingsOf(sender);
  return { reading, settings, found, isControlIdReused, messageId, requestId, nowMs: deps.now() };
}

/** Where we fail, or the database fails to take what we made of it, the message is stored without effects. */
async function storeDecision(
  deps: Deps,
  request: TurnRequest,
  located: Located,
  input: DecisionInput,
  turn: Turn,
): Promise<Omit<Ingested, 'reading'> | undefined> {
  const fail = (error: unknown) => {
    deps.log({ level: 'error', event: 'bug', surface: 'hl7', requestId: request.requestId, error });
    return store(deps, request, located, decideFailed(input), turn);
  };
  let decision: Decision;
  try {
    decision = decide(input);
  } catch (error) {
    return fail(error);
  }
  try {
    return await store(deps, request, located, decision, turn);
  } catch (error) {
    // A Fault says what is to be done: the sender tries again, or is not who it was.
    if (error instanceof Fault) throw error;
    return fail(error);
  }
}

/** The second round trip; undefined when what was found has passed and nothing was stored. */
async function store(
  deps: Deps,
  { bytes, source, requestId }: TurnRequest,
  { reading, context }: Located,
  { outcome, findings, effects, ack }: Decision,
  { messageId, sha256, replay }: Turn,
): Promise<Omit<Ingested, 'reading'> | undefined> {
  const { sender, state, check } = context;
  const { messageType, triggerEvent } = reading.header;
  const message: NewMessage = {
    ...identityOf(reading, sha256),
    messageId,
    clientId: sender.client_id,
    source: source.kind,
    sourceAddress: source.address,
    requestId,
    type: [messageType, triggerEvent].filter(Boolean).join('^').slice(0, MAX_TYPE_LENGTH).toWellFormed(),
    outcome,
    errors: findings.slice(0, MAX_KEPT_FINDINGS),
    replay,
  };
  const query = storeMessage(sender.site_id, message, bytes, ack, reading.lookup, state, effects);
  const [row] = (await unlessPassed(() => rowsOf(deps, check, query))) ?? [];
  if (row === undefined || row.outcome === 'retry' || row.decided === null) return undefined;
  return { status: row.outcome, outcome: row.decided, ack: bytesOrNull(row.ack) };
}

/** The rows of a query behind the check of the caller. */
async function rowsOf<Row extends object>(deps: Deps, check: Query | undefined, query: Query<Row>): Promise<Row[]> {
  if (check === undefined) return deps.database.run(query);
  const [, rows] = await deps.database.batch([check, query]);
  return rows;
}

const bytesOrNull = (hex: string | null): Uint8Array | null => (hex === null ? null : bytesOfHex(hex));

/** A FHIR client changed one of the resources between the check and the write: another turn. */
async function unlessPassed<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'precondition-failed') return undefined;
    throw error;
  }
}
