/**
 * The path between sidecar and edge (shared/mllp-contract.ts): one raw MLLP message in, its ACK out, and the address ranges of
 * all keys. For other callers the path does not exist.
 */
import { Fault } from '../../../shared/fault.ts';
import { ackDecision, isAcknowledgment } from '../../../shared/hl7/ack-mode.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import { type Header, salvageHeader } from '../../../shared/hl7/header.ts';
import { canonicalRange, parseAddress, parseRange, rangeContains } from '../../../shared/ip.ts';
import {
  connectionReport,
  MAX_CONNECTION_REPORT_BYTES,
  MLLP_ACCEPT_LENGTH_HEADER,
  MLLP_CONNECTIONS_PATH,
  MLLP_CONNECTION_HEADER,
  MLLP_CONTENT_TYPE,
  MLLP_CONTRACT_HEADER,
  MLLP_MESSAGES_PATH,
  MLLP_RANGES_PATH,
  MLLP_SENDER_HEADER,
  type AllowedRanges,
  type ConnectionReport,
  type SidecarClaims,
} from '../../../shared/mllp-contract.ts';
import type { SidecarKey } from '../../config.ts';
import type { Deps, Query } from '../../deps.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';
import { FAULT_STATUS, faultOf } from '../../http/fault-status.ts';
import { needOf } from '../../http/memory.ts';
import type { NoteRefusal } from '../../http/refusals.ts';
import { createSurface, type Surface } from '../../http/surface.ts';
import type { CountUse } from '../../http/usage.ts';
import { allowedIps } from '../../store/hl7.ts';
import { noteConnections, noteSidecar, noteRejectedSidecar } from '../../store/sidecar.ts';
import { ackBytes } from '../ingest/answer.ts';
import { type CutMessage, takeMessage } from '../ingest/cut-documents.ts';
import { ingest, type Isolate } from '../ingest/ingest.ts';
import { readMessageBytes, TooLong } from '../ingest/message-bytes.ts';
import { refusalReason } from '../ingest/refusal-reason.ts';
import type { NoKey } from '../ingest/sender/select-key.ts';
import { ownedConnections, senderValue } from './connections.ts';
import { callerOf, notThere, requireBody, useToken } from './sidecar-token.ts';

/** How long a sidecar may use its ranges: a changed key counts after that. */
const RANGES_MAX_AGE_SECONDS = 15;

/** The console lists sidecars that called or were rejected lately. One note a minute for each is enough. */
const SIDECAR_NOTE_MS = 60_000;

/** @throws Fault `not-found` for a caller without a registered sidecar key */
type RequireSidecar = (request: Request) => Promise<{ claims: SidecarClaims; key: SidecarKey; noteCall: () => void }>;

function createSidecarCheck(deps: Deps): RequireSidecar {
  const noted = new Map<string, number>();
  const note = (what: string, query: Query): void => {
    const now = deps.now();
    if (now - (noted.get(what) ?? -Infinity) < SIDECAR_NOTE_MS) return;
    noted.set(what, now);
    deps.background(deps.database.run(query));
  };

  return async (request) => {
    const caller = await callerOf(deps, request);
    if ('claims' in caller) {
      const { claims, clockSeconds, key } = caller;
      const { iss, state } = claims;
      const what = state === undefined ? 'called' : 'reported';
      return { claims, key, noteCall: () => note(`${what} ${iss}`, noteSidecar(iss, clockSeconds, state)) };
    }
    const { rejectedSidecar, cause } = caller;
    if (rejectedSidecar !== undefined) {
      note(
        `${rejectedSidecar.reason} ${rejectedSidecar.name}`,
        noteRejectedSidecar(rejectedSidecar, deps.sourceAddress(request)),
      );
    }
    throw notThere(cause);
  };
}

/** Notes for the administrators of the keys that nearly fit why none was selected. The sender gets no reason. */
export function noteNoKey(
  { log }: Pick<Deps, 'log'>,
  note: NoteRefusal | undefined,
  { refused: code, reason: detail, explainTo }: NoKey,
  sourceAddress: string,
  requestId: string,
): void {
  log({ level: 'warn', event: 'mllp.refused', requestId, sourceAddress, fault: code, detail });
  for (const { clientId, reason } of explainTo) {
    note?.({ clientId, isKnown: true, answer: 'AR', code, reason, requestId, sourceAddress });
  }
}

function addMessages(
  app: Surface,
  deps: Deps,
  isolate: Isolate,
  requireSidecar: RequireSidecar,
  noteRefusal: NoteRefusal | undefined,
): void {
  app.post(MLLP_MESSAGES_PATH, async (c) => {
    const request = c.req.raw;
    const requestId = c.get('requestId');
    const { claims, key, noteCall } = await requireSidecar(request);
    const { src: address, tls: tlsSubject, iss } = claims;
    const { HL7_MAX_MESSAGE_BYTES: maxBytes, HL7_MAX_TEXT_BYTES: maxTextBytes } = deps.config;
    const readSent = async (): Promise<CutMessage> => {
      const bytes = await deps.share().read(address, async (expect) => {
        const read = await readMessageBytes(deps.gzip, request, maxBytes, expect);
        await requireBody(claims, read);
        await deps.share().reserve(address, needOf('hl7', read));
        return read;
      });
      return takeMessage(bytes, maxTextBytes);
    };

    const refuseSender = (header: Header, refusal: NoKey): Response => {
      noteNoKey(deps, noteRefusal, refusal, address, requestId);
      return refuse(header, UNKNOWN_SENDER, deps.now(), requestId, 'close');
    };
    const message = await readSent();
    noteCall();
    if (!speaksFor(key, address)) return refuseSender(salvageHeader(message.bytes), OUT_OF_RANGE);
    const ingested = await ingest(
      { ...deps, ...isolate },
      {
        ...message,
        sender: { kind: 'address', address, tlsSubject, sidecar: iss, sites: key.sites },
        source: { kind: 'mllp', address, tlsSubject },
        requestId,
      },
    );
    if (ingested.status === 'no-sender') return refuseSender(ingested.header, ingested.refusal);
    const { site, clientId, outcome } = ingested;
    c.set('use', { site, clientId, outcome: outcome === 'AA' ? 'ok' : 'refused', messages: [ingested] });
    if (outcome !== 'AA') {
      const reason = refusalReason(ingested.refusedFor);
      noteRefusal?.({ clientId, isKnown: true, answer: outcome, ...reason, requestId, sourceAddress: address });
    }
    deps.log({ level: 'info', event: 'hl7.message', requestId, clientId, site, detail: outcome });
    const { ack, acceptAck } = ingested;
    return answer(ack, 'keep', senderValue(ingested), takesTwo(request) ? acceptAck : undefined);
  });
}

/** The address ranges of all keys, and the connections that a sidecar reports. */
function addRangesAndConnections(app: Surface, deps: Deps, requireSidecar: RequireSidecar): void {
  app.get(MLLP_RANGES_PATH, async (c) => {
    const { claims, noteCall } = await requireSidecar(c.req.raw);
    await requireBody(claims, new Uint8Array(0));
    await useToken(deps, claims);
    noteCall();
    const rows = await deps.database.run(allowedIps());
    const ranges = new Set(rows.flatMap(({ range }) => canonicalRange(range) ?? []));
    const answer: AllowedRanges = { ranges: [...ranges], maxAgeSeconds: RANGES_MAX_AGE_SECONDS };
    return c.json(answer, 200, { 'Cache-Control': 'no-store' });
  });

  app.post(MLLP_CONNECTIONS_PATH, async (c) => {
    const request = c.req.raw;
    const { claims, key } = await requireSidecar(request);
    const bytes = await deps.share().read(claims.iss, async (expect) => {
      const read = await readBody(request, MAX_CONNECTION_REPORT_BYTES, expect);
      await requireBody(claims, read);
      await deps.share().reserve(claims.iss, needOf('json', read));
      return read;
    });
    const report = reportOf(bytes);
    if (report === undefined) return new Response(null, { status: 422 });
    await useToken(deps, claims);
    await deps.database.run(noteConnections(claims.iss, report.run, key.sites, ownedConnections(report)));
    return new Response(null, { status: 204 });
  });
}

export function createMllpIngest(
  deps: Deps,
  isolate: Isolate,
  countUse?: CountUse,
  noteRefusal?: NoteRefusal,
): Surface {
  const app = createSurface(deps, 'mllp', '', countUse);
  const requireSidecar = createSidecarCheck(deps);
  addMessages(app, deps, isolate, requireSidecar, noteRefusal);
  addRangesAndConnections(app, deps, requireSidecar);
  app.notFound(() => new Response(null, { status: 404 }));

  app.onError((error, c) => {
    const requestId = c.get('requestId');
    if (error instanceof TooLong) {
      const refusal = { message: error.fault.message, reason: 'too-large' } as const;
      return refuse(error.header, refusal, deps.now(), requestId, 'keep');
    }
    const fault = faultOf(error, deps.log, 'mllp', requestId);
    if (fault === undefined) return new Response(null, { status: 500 });
    return new Response(null, { status: statusOf(fault), headers: fault.headers });
  });

  return app;
}

/** Undefined for a report of another shape. */
function reportOf(bytes: Uint8Array): ConnectionReport | undefined {
  try {
    return connectionReport.safeParse(JSON.parse(decodeUtf8(bytes))).data;
  } catch {
    return undefined;
  }
}

/** Checks whether the operator registered a sidecar's key for senders at this address. */
function speaksFor({ ranges }: SidecarKey, address: string): boolean {
  const bytes = parseAddress(address);
  return (
    ranges === undefined ||
    ranges.some((text) => {
      const range = parseRange(text);
      return range !== undefined && bytes !== undefined && rangeContains(range, bytes);
    })
  );
}

const OUT_OF_RANGE: NoKey = {
  refused: 'no-key',
  reason: 'MLLP_SIDECAR_KEYS does not register the sidecar’s key for this source address (ranges)',
  explainTo: [],
};

/** A stranger learns nothing about its request. The sidecar retries what is unavailable. */
const statusOf = ({ kind }: Fault): number => (kind === 'unavailable' ? FAULT_STATUS.unavailable : 404);

/** The administrator sees which condition failed, the sender does not. */
const UNKNOWN_SENDER = {
  message: 'This sender is unknown. Its administrator finds the reason in the console.',
  reason: 'unknown-sender',
} as const;

const headersOf = (connection: 'keep' | 'close', sender?: string) => ({
  'Content-Type': MLLP_CONTENT_TYPE,
  [MLLP_CONNECTION_HEADER]: connection,
  ...(sender === undefined ? {} : { [MLLP_SENDER_HEADER]: sender }),
});

/** Sidecars of the contract's first version do not know a second ACK. */
const takesTwo = (request: Request): boolean => Number(request.headers.get(MLLP_CONTRACT_HEADER) ?? '1') >= 2;

/**
 * @param sender the value of MLLP_SENDER_HEADER; undefined without a key
 * @param acceptAck precedes the ACK in a separate frame
 */
function answer(
  ack: Uint8Array | null,
  connection: 'keep' | 'close',
  sender?: string,
  acceptAck?: Uint8Array,
): Response {
  const headers = headersOf(connection, sender);
  // An acknowledgement, or MSH-15 and MSH-16 asked for no ACK: the sidecar writes nothing.
  if (ack === null) return new Response(null, { status: 204, headers });
  if (acceptAck === undefined) return new Response(Uint8Array.from(ack).buffer, { status: 200, headers });
  return new Response(Uint8Array.from([...acceptAck, ...ack]).buffer, {
    status: 200,
    headers: { ...headers, [MLLP_ACCEPT_LENGTH_HEADER]: String(acceptAck.length) },
  });
}

/** AR 207: nothing was stored. */
function refuse(
  header: Header,
  refusal: { readonly message: string; readonly reason: ErrorReason },
  nowMs: number,
  requestId: string,
  connection: 'keep' | 'close',
): Response {
  if (isAcknowledgment(header)) return answer(null, connection);
  const code = ackDecision(header, 'AR').send ?? 'AR';
  const bytes = ackBytes(header, code, [{ code: '207', severity: 'E', ...refusal }], requestId, nowMs);
  return answer(bytes, connection);
}
