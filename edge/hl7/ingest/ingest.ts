/**
 * The life of a message, from its bytes to its ACK: it is read, its sender found, a snapshot loaded, decided by it, and committed. Where the
 * snapshot has changed meanwhile, the message is decided again by the one that the commit returns. Nothing is acknowledged
 * that is not stored.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { AttemptReason } from '../../store/hl7.ts';
import { acceptAckOf, answerTo } from './answer.ts';
import {
  commit,
  type Attempt,
  type Changed,
  type Committed,
  type CommitRequest,
  type MessageSource,
} from './commit.ts';
import { decide, decideFailed, type Decision, type DecisionInput } from './decide.ts';
import type { Sender } from './sender/sender.ts';
import { load, type LoadDeps, type Loaded, type NoSender } from './snapshot/load.ts';

/** What processing a message needs of the runtime. */
export interface IngestDeps extends Pick<Deps, 'config' | 'log'>, LoadDeps {}

export interface IngestRequest {
  readonly sender: Sender;
  readonly bytes: Uint8Array;
  readonly source: MessageSource;
  readonly requestId: string;
}

export interface Ingested {
  /** `seen`: these bytes were accepted before; the first AA is the answer again, and nothing was stored. */
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  /** Null where the sender asked for no ACK. */
  readonly ack: Uint8Array | null;
  /** Goes before the other, in a frame of its own (MLLP). */
  readonly acceptAck: Uint8Array | undefined;
  /** What it was refused for; none where it was accepted. */
  readonly refusedFor: readonly AckError[];
  readonly header: Header;
  /** MSH-3 and MSH-4 as they are kept with it. */
  readonly application: string;
  readonly facility: string;
  /** Of the key. */
  readonly site: string;
  readonly clientId: string;
}

/** Each round begins because another message about the same patient was stored meanwhile: some message always ends. */
const MAX_ROUNDS = 20;

/**
 * Stores a message and answers it.
 *
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached
 */
export function ingest(deps: IngestDeps, request: IngestRequest): Promise<Ingested | NoSender> {
  return processMessage(deps, request, { messageId: uuidv7(deps.now()), why: 'received', actor: null, jobId: null });
}

/** @param first the attempt to store, unless the same bytes are stored already */
export async function processMessage(
  deps: IngestDeps,
  request: IngestRequest,
  first: Attempt,
): Promise<Ingested | NoSender> {
  const received = { ...request, beganMs: deps.now(), sha256: await sha256Of(request.bytes) };
  let loaded = await load(deps, received);
  let attempt = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (loaded.status === 'no-sender') return loaded;
    const { seen } = loaded;
    // A refused message may have been forgotten meanwhile: then the same bytes come as if for the first time.
    if (seen === undefined && attempt.why === 'resent') attempt = first;
    if (seen !== undefined && !isByAdministrator(attempt.why)) {
      const { messageId, accepted } = seen;
      if (accepted !== undefined) {
        return answered(deps, request, loaded, { status: 'seen', outcome: 'AA', ack: accepted.ack, refusedFor: [] });
      }
      // The message was refused before: the cause may have been repaired since.
      if (attempt.why === 'received') attempt = { ...attempt, messageId, why: 'resent' };
    }
    const committed = await decideAndCommit(deps, received, loaded, attempt);
    if (committed.status !== 'changed') return answered(deps, request, loaded, committed);
    loaded = committed.loaded;
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

function answered(
  deps: IngestDeps,
  { source, requestId }: IngestRequest,
  { reading, settings, identity }: Loaded,
  committed: Committed,
): Ingested {
  const { header } = reading;
  const { site, clientId } = settings;
  const { status, outcome, refusedFor } = committed;
  const nowMs = deps.now();
  const acceptAck = acceptAckOf(header, settings, outcome, requestId, nowMs);
  // The first ACK was none, or is no longer kept: a new one says the same.
  const isGone = status === 'seen' && committed.ack === null && outcome === 'AA';
  const { ack } = isGone ? answerTo({ reading, settings, source: source.kind, requestId, nowMs }, []) : committed;
  const { application, facility } = identity;
  return { status, outcome, ack, acceptAck, refusedFor, header, application, facility, site, clientId };
}

/** Where the gateway fails, or the database does not accept the effects, the message is stored without effects. */
async function decideAndCommit(
  deps: IngestDeps,
  request: CommitRequest,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Committed | Changed> {
  const input = decisionInput(deps, loaded, attempt, request);
  const logged = (error: unknown) =>
    deps.log({ level: 'error', event: 'bug', surface: 'hl7', requestId: request.requestId, error });
  let decision: Decision;
  try {
    decision = decide(input);
  } catch (error) {
    const failed = await commit(deps, request, loaded, decideFailed(input), attempt);
    // A snapshot that has changed may have been the cause.
    if (failed.status !== 'changed') logged(error);
    return failed;
  }
  try {
    return await commit(deps, request, loaded, decision, attempt);
  } catch (error) {
    // A Fault says what to do: the sender tries again, or has lost its access.
    if (error instanceof Fault) throw error;
    logged(error);
    return commit(deps, request, loaded, decideFailed(input), attempt);
  }
}

/** An administrator may process a message again after it was accepted; a sender gets the first answer. */
const isByAdministrator = (why: AttemptReason): boolean => why === 'replayed' || why === 'forced';

/** What a decision about a loaded message depends on. */
export function decisionInput(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  { reading, settings, found, patients, isControlIdReused, isCrowded }: Loaded,
  { messageId, why }: Attempt,
  { requestId, source }: Pick<IngestRequest, 'requestId' | 'source'>,
): DecisionInput {
  const isReused = isControlIdReused && why === 'received';
  const base = config.INTEGRATION_FHIR_PUBLIC_BASE_URL;
  const fhirBase = base === undefined ? undefined : `${base}/fhir`;
  return {
    reading,
    settings,
    found,
    patients,
    isControlIdReused: isReused,
    isCrowded,
    isForced: why === 'forced',
    messageId,
    requestId,
    source: source.kind,
    nowMs: now(),
    fhirBase,
  };
}
