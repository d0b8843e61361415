/**
 * The life of a message, from its bytes to its ACK, in one round trip where what is believed of its sender and its patients is
 * so, and in two where not: it is located, decided about, and stored with all its effects, under a lock, or has another
 * turn. Nothing is acknowledged that is not stored.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { AttemptReason } from '../../store/hl7.ts';
import { guessed } from './snapshot/guessed.ts';
import type { Guesses } from './snapshot/cache.ts';
import type { Sender } from './sender/find-sender.ts';
import { acceptAckOf, answerTo } from './answer.ts';
import { decide, decideFailed, type Decision, type DecisionInput } from './decide.ts';
import { locate, locatedBy, soughtBy, type Located, type NoSender } from './snapshot/load.ts';
import { store, type Entry, type MessageSource, type Passed, type Stored } from './commit.ts';

/** What of a runtime processing a message needs. */
export interface IngestDeps extends Pick<Deps, 'config' | 'database' | 'now' | 'log'> {
  /** Undefined where every message is located first. */
  readonly guesses?: Guesses | undefined;
}

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
 * Locates, decides and stores, and begins anew where somebody else wrote in between. A message that comes for the first time
 * is not located before it is decided about where that can be guessed: what is not so comes back, and counts.
 *
 * @param first as what the message is stored, unless these bytes are stored already
 */
export async function takeTurns(deps: IngestDeps, request: IngestRequest, first: Entry): Promise<Ingested | NoSender> {
  const { guesses, database } = deps;
  const beganMs = deps.now();
  const received = { ...request, sha256: await sha256Of(request.bytes) };
  const sought = soughtBy(received);
  const guess = first.why === 'received' ? guesses && guessed(guesses, received, sought, deps.now()) : undefined;
  let located = guess ?? (await locate(database, received, sought));
  let entry = first;
  const answered = (stored: Omit<Stored, 'left'>, { reading, settings, identity }: Located): Ingested => {
    const { header } = reading;
    const { site, clientId } = settings;
    const { source, requestId } = request;
    const nowMs = deps.now();
    const acceptAck = acceptAckOf(header, settings, stored.outcome, requestId, nowMs);
    // The first answer was none, or is kept no longer: then one is made that says the same.
    const isGone = stored.status === 'seen' && stored.ack === null && stored.outcome === 'AA';
    const { ack } = isGone ? answerTo({ reading, settings, source: source.kind, requestId, nowMs }, []) : stored;
    const { status, outcome, refusedFor } = stored;
    const { application, facility } = identity;
    return { status, outcome, ack, acceptAck, refusedFor, header, application, facility, site, clientId };
  };
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    if (located.status === 'no-sender') return located;
    if (located !== guess) guesses?.learnSender(located.door, located, deps.now());
    const { seen } = located;
    // What was refused so long ago that it went meanwhile comes as if for the first time.
    if (seen === undefined && entry.why === 'resent') entry = first;

    if (seen !== undefined && !isByAdministrator(entry.why)) {
      const { messageId, accepted } = seen;
      if (accepted !== undefined) {
        return answered({ status: 'seen', outcome: 'AA', ack: accepted.ack, refusedFor: [] }, located);
      }
      // The sender was refused; who sends the same again has had the cause repaired, or hopes so.
      if (entry.why === 'received') entry = { ...entry, messageId, why: 'resent' };
    }

    const taken = await decideAndStore(deps, request, located, entry, located === guess, beganMs);
    if (taken.status !== 'passed') {
      if (taken.left !== undefined) guesses?.learnStored(taken.left, deps.now());
      return answered(taken, located);
    }
    // What identifies nobody was left out of the look-up, and so of what came back.
    const { found } = located.isWhole ? taken : { found: undefined };
    located =
      found === undefined
        ? await locate(database, received, sought)
        : await locatedBy(database, received, located, found);
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

/**
 * Where we fail, or the database fails to take what we made of it, the message is stored without effects.
 *
 * @param isGuess nothing is made of a guess that we cannot decide by
 */
async function decideAndStore(
  deps: IngestDeps,
  request: IngestRequest,
  located: Located,
  entry: Entry,
  isGuess: boolean,
  beganMs: number,
): Promise<Stored | Passed> {
  const { database, guesses } = deps;
  const input = decisionInput(deps, located, entry, request);
  const storeAs = (decision: Decision) => {
    const elapsedMs = Math.round(deps.now() - beganMs);
    return store(database, { ...request, elapsedMs }, located, decision, entry, {
      isGuess,
      isLearnt: guesses !== undefined,
    });
  };
  const fail = (error: unknown) => {
    deps.log({ level: 'error', event: 'bug', surface: 'hl7', requestId: request.requestId, error });
    return storeAs(decideFailed(input));
  };
  let decision: Decision;
  try {
    decision = decide(input);
  } catch (error) {
    return isGuess ? { status: 'passed', found: undefined } : fail(error);
  }
  try {
    return await storeAs(decision);
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
