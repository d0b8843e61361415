/**
 * The life of a message, from its bytes to its ACK in two round trips: it is located, decided about, and stored with all
 * its effects, under a lock, or has another turn. Nothing is acknowledged that is not stored.
 */
import { Fault } from '../../../shared/fault.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { AttemptReason } from '../../store/hl7.ts';
import type { Sender } from '../sender/find-sender.ts';
import { acceptAckOf, answerTo } from './answer.ts';
import { decide, decideFailed, type Decision, type DecisionInput } from './decide.ts';
import { locate, type Located, type NoSender } from './locate.ts';
import { store, type Entry, type MessageSource, type Stored } from './store.ts';

/** What of a runtime processing a message needs. */
export type IngestDeps = Pick<Deps, 'config' | 'database' | 'now' | 'log'>;

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
  readonly header: Header;
  /** Of the key. */
  readonly site: string;
  readonly clientId: string;
}

/** Each turn begins because another message about the same patient was stored meanwhile: some message always ends. */
const MAX_TURNS = 20;

/**
 * Stores a message and answers it.
 *
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached
 */
export function ingest(deps: IngestDeps, request: IngestRequest): Promise<Ingested | NoSender> {
  return takeTurns(deps, request, { messageId: uuidv7(deps.now()), why: 'received', actor: null, jobId: null });
}

/**
 * Locates, decides and stores, and begins anew where somebody else wrote in between.
 *
 * @param first as what the message is stored, unless these bytes are stored already
 */
export async function takeTurns(deps: IngestDeps, request: IngestRequest, first: Entry): Promise<Ingested | NoSender> {
  const received = { ...request, sha256: await sha256Of(request.bytes) };
  let entry = first;
  const answered = (stored: Stored, { reading, settings }: Located): Ingested => {
    const { header } = reading;
    const { site, clientId } = settings;
    const { source, requestId } = request;
    const nowMs = deps.now();
    const acceptAck = acceptAckOf(header, settings, stored.outcome, requestId, nowMs);
    // The first answer was none, or is kept no longer: then one is made that says the same.
    const isGone = stored.status === 'seen' && stored.ack === null && stored.outcome === 'AA';
    const { ack } = isGone ? answerTo({ reading, settings, source: source.kind, requestId, nowMs }, []) : stored;
    return { ...stored, ack, acceptAck, header, site, clientId };
  };
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const located = await locate(deps.database, received);
    if (located.status === 'no-sender') return located;
    const { seen } = located;
    // What was refused so long ago that it went meanwhile comes as if for the first time.
    if (seen === undefined && entry.why === 'resent') entry = first;

    if (seen !== undefined && !isByAdministrator(entry.why)) {
      const { messageId, accepted } = seen;
      if (accepted !== undefined) return answered({ status: 'seen', outcome: 'AA', ack: accepted.ack }, located);
      // The sender was refused; who sends the same again has had the cause repaired, or hopes so.
      if (entry.why === 'received') entry = { ...entry, messageId, why: 'resent' };
    }

    const stored = await decideAndStore(deps, request, located, entry);
    if (stored !== undefined) return answered(stored, located);
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

/**
 * Where we fail, or the database fails to take what we made of it, the message is stored without effects.
 *
 * @returns undefined when what was located has passed and nothing was stored
 */
async function decideAndStore(
  deps: IngestDeps,
  request: IngestRequest,
  located: Located,
  entry: Entry,
): Promise<Stored | undefined> {
  const input = decisionInput(deps, located, entry, request);
  const fail = (error: unknown) => {
    deps.log({ level: 'error', event: 'bug', surface: 'hl7', requestId: request.requestId, error });
    return store(deps.database, request, located, decideFailed(input), entry);
  };
  let decision: Decision;
  try {
    decision = decide(input);
  } catch (error) {
    return fail(error);
  }
  try {
    return await store(deps.database, request, located, decision, entry);
  } catch (error) {
    // A Fault says what is to be done: the sender tries again, or is not who it was.
    if (error instanceof Fault) throw error;
    return fail(error);
  }
}

/** Who looks at what becomes of a message may have it processed as often as it takes; a sender has its answer. */
const isByAdministrator = (why: AttemptReason): boolean => why === 'replayed' || why === 'forced';

/** What a decision about a located message rests on. */
export function decisionInput(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  { reading, settings, found, patients, isControlIdReused, isCrowded }: Located,
  { messageId, why }: Entry,
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
