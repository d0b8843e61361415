/**
 * A message from its bytes to its ACK in two round trips: one finds the sender's settings, whether the message was seen
 * and which resources it speaks of; the other stores it with all its effects, under a lock, or asks for another turn.
 * Nothing is acknowledged that is not stored.
 */
import type { AckError } from '../../shared/hl7/ack.ts';
import { charsetNamed } from '../../shared/hl7/charset.ts';
import type { ApplicationCode } from '../../shared/hl7/error-code.ts';
import { Fault } from '../../shared/fault.ts';
import type { JsonObject } from '../../shared/json.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import type { Deps, Query } from '../deps.ts';
import { assertCaller, type CallerIdentity } from '../store/api-key.ts';
import {
  bytesOfHex,
  EMPTY_STATE,
  matchesOf,
  sendersOf,
  storedMessage,
  storeMessage,
  type MatchRow,
  type MessageIdentity,
  type NewMessage,
  type SenderChoice,
  type SenderRow,
} from '../store/hl7.ts';
import { decide, type Decision } from './decide.ts';
import { readBytes, type Reading } from './reading.ts';
import { settingsOf } from './settings.ts';

/** Who sends: the bearer of an access token, or whoever an address and the header may be (MLLP). */
export type Sender =
  | { readonly kind: 'caller'; readonly caller: CallerIdentity }
  | {
      readonly kind: 'mllp';
      readonly sourceAddress: string;
      /** Of the keys that may be meant, the one that is; undefined refuses the message. */
      readonly select: (candidates: readonly SenderRow[], reading: Reading) => SenderRow | undefined;
    };

export interface IngestRequest {
  readonly sender: Sender;
  readonly bytes: Uint8Array;
  readonly source: { readonly kind: 'http' | 'mllp'; readonly address: string };
  readonly requestId: string;
}

export interface Ingested {
  readonly status: 'stored' | 'seen';
  readonly outcome: ApplicationCode;
  /** Null where the sender asked for no ACK. */
  readonly ack: Uint8Array | null;
  readonly reading: Reading;
}

/** Each turn begins because another message about the same patient was stored meanwhile, so some message always ends. */
const MAX_TURNS = 20;

/**
 * Stores a message and answers it.
 *
 * @returns undefined when no key is meant (MLLP)
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached
 */
export async function ingest(deps: Deps, request: IngestRequest): Promise<Ingested | undefined> {
  const messageId = uuidv7(deps.now());
  const sha256 = await sha256Of(request.bytes);
  let reading = readBytes(request.bytes, 'utf-8');
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const context = await findContext(deps, request, reading, sha256);
    if (context === undefined) return undefined;
    const settings = settingsOf(context.sender);
    if (context.sender.seen_outcome !== null) {
      const { seen_outcome: outcome, seen_ack: ack } = context.sender;
      return { status: 'seen', outcome, ack: ack === null ? null : bytesOfHex(ack), reading };
    }

    const again = rereading(request.bytes, reading, settings.charset);
    if (again !== undefined) {
      const asked = JSON.stringify(reading.lookup);
      reading = again;
      if (JSON.stringify(reading.lookup) !== asked) continue;
    }
    const decision = decide({
      ...context,
      reading,
      settings,
      messageId,
      requestId: request.requestId,
      nowMs: deps.now(),
    });
    const stored = await store(deps, request, context, reading, decision, { messageId, sha256, replay: false });
    if (stored !== undefined) return { ...stored, reading };
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

export interface DryRun {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** What would be created or changed; ids of new resources are not those they will get. */
  readonly resources: readonly JsonObject[];
  readonly reading: Reading;
}

/** The same path without storing anything, for the administrator's workbench: as if the key had sent these bytes now. */
export async function dryRun(
  deps: Deps,
  key: { readonly site: string; readonly clientId: string },
  bytes: Uint8Array,
  requestId: string,
): Promise<DryRun> {
  const sha256 = await sha256Of(bytes);
  let reading = readBytes(bytes, 'utf-8');
  for (;;) {
    const choice: SenderChoice = { clientId: key.clientId };
    const [senders, matches] = await deps.database.batch([
      sendersOf(choice, identityOf(reading, sha256)),
      matchesOf(choice, reading.lookup),
    ]);
    const sender = senders.find((row) => row.site_id === key.site);
    if (sender === undefined) throw new Fault('not-found', 'no such API key');
    const settings = settingsOf(sender);
    const again = rereading(bytes, reading, settings.charset);
    if (again !== undefined) {
      const asked = JSON.stringify(reading.lookup);
      reading = again;
      if (JSON.stringify(reading.lookup) !== asked) continue;
    }
    const found = foundIn(matches);
    const nowMs = deps.now();
    const isControlIdReused = sender.is_control_id_reused;
    const { outcome, ack, findings, effects } = decide({
      ...{ reading, settings, found, isControlIdReused, requestId, nowMs },
      messageId: uuidv7(nowMs),
    });
    return { outcome, ack, findings, resources: effects.resources, reading };
  }
}

/**
 * Maps a stored message again, with today's settings, and keeps the new outcome and ACK: a retransmission then gets the
 * new one. For the administrator, after what made a message fail was put right.
 *
 * @throws Fault `not-found` when the site has no such message
 */
export async function reprocess(deps: Deps, site: string, messageId: string, requestId: string): Promise<Ingested> {
  const [message] = await deps.database.run(storedMessage(site, messageId));
  if (message === undefined) throw new Fault('not-found', 'no such message');
  const bytes = bytesOfHex(message.raw);
  const sha256 = await sha256Of(bytes);
  const choice: SenderChoice = { clientId: message.client_id };
  const source = { kind: message.source, address: message.source_address };
  let reading = readBytes(bytes, 'utf-8');
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const [[sender], matches] = await deps.database.batch([
      sendersOf(choice, identityOf(reading, sha256)),
      matchesOf(choice, reading.lookup),
    ]);
    if (sender === undefined) throw new Fault('not-found', 'no such API key');
    const settings = settingsOf(sender);
    const again = rereading(bytes, reading, settings.charset);
    if (again !== undefined) {
      const asked = JSON.stringify(reading.lookup);
      reading = again;
      if (JSON.stringify(reading.lookup) !== asked) continue;
    }
    const context: Context = {
      sender,
      found: foundIn(matches),
      state: stateOf(matches),
      isControlIdReused: false,
      first: [],
    };
    const decision = decide({ ...context, reading, settings, messageId, requestId, nowMs: deps.now() });
    const request = { bytes, source, requestId };
    const stored = await store(deps, request, context, reading, decision, { messageId, sha256, replay: true });
    if (stored !== undefined) return { ...stored, reading };
  }
  throw new Fault('unavailable', 'too many messages about the same patient at once');
}

interface Context {
  readonly sender: SenderRow;
  readonly found: ReturnType<typeof foundIn>;
  readonly state: string;
  readonly isControlIdReused: boolean;
  /** What every batch of this sender begins with. */
  readonly first: readonly Query[];
}

/** Trip 1. */
async function findContext(
  deps: Deps,
  { sender }: IngestRequest,
  reading: Reading,
  sha256: string,
): Promise<Context | undefined> {
  const identity = identityOf(reading, sha256);
  if (sender.kind === 'caller') {
    const choice: SenderChoice = { clientId: sender.caller.clientId };
    const check = assertCaller(sender.caller);
    const [, [row], matches] = await deps.database.batch([
      check,
      sendersOf(choice, identity),
      matchesOf(choice, reading.lookup),
    ]);
    return row === undefined ? undefined : contextOf(row, matches, [check]);
  }
  const { application, facility } = identity;
  const choice: SenderChoice = { sourceAddress: sender.sourceAddress, application, facility };
  const [candidates, matches] = await deps.database.batch([
    sendersOf(choice, identity),
    matchesOf(choice, reading.lookup),
  ]);
  const row = sender.select(candidates, reading);
  return row === undefined ? undefined : contextOf(row, matches, []);
}

function contextOf(sender: SenderRow, matches: readonly MatchRow[], first: readonly Query[]): Context {
  const own = matches.filter((match) => match.client_id === sender.client_id);
  return { sender, found: foundIn(own), state: stateOf(own), isControlIdReused: sender.is_control_id_reused, first };
}

const stateOf = (matches: readonly MatchRow[]): string => matches[0]?.state ?? EMPTY_STATE;

const foundIn = (matches: readonly MatchRow[]) =>
  matches.map(({ role, key, contributions, type, id, version, last_updated, meta, body }) => ({
    role,
    key,
    contributions,
    resource: { type, id, version, last_updated, meta, body },
  }));

/** Trip 2; undefined when what was found has passed and nothing was stored. */
async function store(
  deps: Deps,
  request: Pick<IngestRequest, 'bytes' | 'source' | 'requestId'>,
  { sender, state, first }: Context,
  reading: Reading,
  decision: Decision,
  { messageId, sha256, replay }: { messageId: string; sha256: string; replay: boolean },
): Promise<Omit<Ingested, 'reading'> | undefined> {
  const message: NewMessage = {
    ...identityOf(reading, sha256),
    messageId,
    clientId: sender.client_id,
    source: request.source.kind,
    sourceAddress: request.source.address,
    requestId: request.requestId,
    type: [reading.header.messageType ?? '', reading.header.triggerEvent ?? ''].filter(Boolean).join('^'),
    outcome: decision.outcome,
    errors: decision.findings,
    replay,
  };
  const query = storeMessage(
    sender.site_id,
    message,
    request.bytes,
    decision.ack,
    reading.lookup,
    state,
    decision.effects,
  );
  const results = await unlessPassed(() => deps.database.batch([...first, query]));
  const row = results?.at(-1)?.[0] as
    | { outcome: string; decided: ApplicationCode | null; ack: string | null }
    | undefined;
  if (row === undefined || row.outcome === 'retry' || row.decided === null) return undefined;
  const status = row.outcome === 'seen' ? 'seen' : 'stored';
  return { status, outcome: row.decided, ack: row.ack === null ? null : bytesOfHex(row.ack) };
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

/** The message read in the set that the key says, where the message itself says none and that changes anything. */
function rereading(bytes: Uint8Array, reading: Reading, charset: Reading['header']['charset']): Reading | undefined {
  const isNamed = reading.header.characterSets.some((name) => charsetNamed(name) !== undefined);
  const isReadSo = reading.message !== undefined && reading.header.charset === charset;
  if (charset === 'utf-8' || isNamed || isReadSo) return undefined;
  return readBytes(bytes, charset);
}

/** Bounded: a header that is too broken to be read must still be storable. */
function identityOf({ header }: Reading, sha256: string): MessageIdentity {
  const bounded = (text: string | undefined): string => (text ?? '').slice(0, 200);
  return {
    application: bounded(header.sendingApplication),
    facility: bounded(header.sendingFacility),
    controlId: bounded(header.controlId),
    sha256,
  };
}

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
