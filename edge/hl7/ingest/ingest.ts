/**
 * Processes a message: read it, find its sender, load a snapshot, decide, commit. If the snapshot has changed, the message is
 * decided again with the current snapshot, which the commit returns. Only stored messages are acknowledged.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import type { AttemptReason } from '../../store/hl7.ts';
import { acceptAckOf, answerTo } from './answer.ts';
import type { NoteMisses } from './code-misses.ts';
import {
  commit,
  type Attempt,
  type Changed,
  type Committed,
  type CommitRequest,
  type MessageSource,
} from './commit.ts';
import type { CutMessage } from './cut-documents.ts';
import { decide, decideFailed, type Decision, type DecisionInput } from './decide.ts';
import type { Sender } from './sender/sender.ts';
import { ofMerge } from '../message/outline.ts';
import {
  codeRowsOf,
  isNarrowed,
  load,
  loadCodes,
  loadForMerge,
  type LoadDeps,
  type Loaded,
  type NoSender,
} from './snapshot/load.ts';

/** The runtime's part of processing a message. */
export interface IngestDeps extends Pick<Deps, 'config' | 'log' | 'share'>, LoadDeps {
  /** Undefined: codes that the code tables miss are not counted. */
  readonly noteMisses?: NoteMisses | undefined;
}

/** The memory of an isolate between messages, over HTTP and of sidecars. */
export type Isolate = Pick<IngestDeps, 'snapshots' | 'noteMisses'>;

export interface IngestRequest extends CutMessage {
  readonly sender: Sender;
  readonly source: MessageSource;
  readonly requestId: string;
}

export interface Ingested {
  /** `seen`: the same bytes were accepted before. The first AA is the answer again, and nothing was stored. */
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  /** Null if the sender asked for no ACK. */
  readonly ack: Uint8Array | null;
  /** Precedes the other in a separate frame (MLLP). */
  readonly acceptAck: Uint8Array | undefined;
  /** The errors; none if the message was accepted. */
  readonly refusedFor: readonly AckError[];
  readonly header: Header;
  /** MSH-3 and MSH-4 as stored. */
  readonly application: string;
  readonly facility: string;
  readonly site: string;
  readonly clientId: string;
}

/**
 * A round fails only if the patient was written meanwhile. One message always ends, but FHIR clients that update a patient
 * without a pause win most rounds. Then more rounds follow, for less than the sidecar waits for an answer.
 */
const LEAST_ROUNDS = 20;
const ROUNDS_MS = 8_000;

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
  const received = { ...request, beganMs: deps.now() };
  let loaded = await load(deps, received);
  let attempt = first;
  for (let round = 0; round < LEAST_ROUNDS || deps.now() - received.beganMs < ROUNDS_MS; round += 1) {
    if (loaded.status === 'no-sender') return loaded;
    const { seen } = loaded;
    // A rejected message may have been deleted since: then the same bytes count as a first message.
    if (seen === undefined && attempt.why === 'resent') attempt = first;
    if (seen !== undefined && !isByAdministrator(attempt.why)) {
      const { messageId, accepted } = seen;
      if (accepted !== undefined) {
        return answered(deps, request, loaded, { status: 'seen', outcome: 'AA', ack: accepted.ack, refusedFor: [] });
      }
      // The cause of the earlier rejection may have been repaired since.
      if (attempt.why === 'received') attempt = { ...attempt, messageId, why: 'resent' };
    }
    const committed = await decideAndCommit(deps, received, loaded, attempt);
    if (committed.status !== 'changed') return answered(deps, request, loaded, committed);
    loaded = committed.loaded;
  }
  throw new Fault('unavailable', 'too many messages and updates of the same patient at once');
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
  // The first attempt had no ACK, or its ACK was deleted: a new ACK has the same content.
  const isGone = status === 'seen' && committed.ack === null && outcome === 'AA';
  const { ack } = isGone ? answerTo({ reading, settings, source: source.kind, requestId, nowMs }, []) : committed;
  const { application, facility } = identity;
  return { status, outcome, ack, acceptAck, refusedFor, header, application, facility, site, clientId };
}

/** If the gateway fails, or the database rejects the effects, the message is stored without effects. */
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
    // A changed snapshot may have been the cause.
    if (failed.status !== 'changed') logged(error);
    return failed;
  }
  if (decision.unresolved.length > 0)
    return { status: 'changed', loaded: await loadCodes(deps, loaded, decision.unresolved) };
  const merging = decision.effects.merges.length > 0 ? ofMerge(loaded.lookup) : undefined;
  if (merging !== undefined && isNarrowed(loaded.lookup)) {
    const more = await loadForMerge(deps, request, loaded);
    if (more !== undefined) return { status: 'changed', loaded: more };
  }
  try {
    // If the records have no results in common, the lookup of a merge finds nothing more. Else the commit returns the rows.
    const known = merging === undefined ? loaded : { ...loaded, lookup: merging };
    const committed = await commit(deps, request, known, decision, attempt);
    if (committed.status === 'stored' && committed.outcome === 'AA' && !isByAdministrator(attempt.why))
      deps.noteMisses?.(loaded.settings.site, loaded.reading.header, decision.misses);
    return committed;
  } catch (error) {
    // A Fault has its own answer: the sender tries again, or has lost its access.
    if (error instanceof Fault) throw error;
    logged(error);
    return commit(deps, request, loaded, decideFailed(input), attempt);
  }
}

/** An administrator may process a message again after it was accepted; a sender gets the first answer. */
const isByAdministrator = (why: AttemptReason): boolean => why === 'replayed' || why === 'forced';

type DecideDeps = Pick<IngestDeps, 'config' | 'now' | 'snapshots'>;

/** A decision that is not stored. */
export interface Previewed {
  /** With the rows of code tables that the decision needed. */
  readonly loaded: Loaded;
  readonly input: DecisionInput;
  readonly decision: Decision;
}

/** Decides about a message for a preview. */
export async function previewDecision(
  deps: DecideDeps & Pick<Deps, 'database'>,
  given: Loaded,
  attempt: Attempt,
  request: Pick<IngestRequest, 'requestId' | 'source'>,
): Promise<Previewed> {
  for (let loaded = given; ;) {
    const input = decisionInput(deps, loaded, attempt, request);
    const decision = decide(input);
    if (decision.unresolved.length === 0) return { loaded, input, decision };
    loaded = await loadCodes(deps, loaded, decision.unresolved);
  }
}

/** The input of a decision about a loaded message. */
export function decisionInput(
  deps: DecideDeps,
  loaded: Loaded,
  { messageId, why }: Attempt,
  { requestId, source }: Pick<IngestRequest, 'requestId' | 'source'>,
): DecisionInput {
  const { config, now } = deps;
  const { reading, settings, found, patients, isControlIdReused, isCrowded, isExcessive } = loaded;
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
    isExcessive,
    isForced: why === 'forced',
    codeRows: codeRowsOf(deps, loaded),
    messageId,
    requestId,
    source: source.kind,
    nowMs: now(),
    fhirBase,
  };
}
