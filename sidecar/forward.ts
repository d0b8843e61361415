/**
 * Forwards a message to the edge and returns its ACK. Only the edge's own answer becomes an ACK. After anything else (no
 * answer, 5xx, a proxy's page) the message may not be stored, and it is retried for a while. A retry is harmless, since the
 * edge answers the same bytes with the stored ACK.
 */
import { addressKey } from '../shared/ip.ts';
import {
  MLLP_ACCEPT_LENGTH_HEADER,
  MLLP_CONNECTION_HEADER,
  MLLP_CONTENT_TYPE,
  MLLP_MESSAGES_PATH,
  MLLP_SENDER_HEADER,
} from '../shared/mllp-contract.ts';
import { createBackoff, type BackoffOptions } from './backoff.ts';
import { type EdgeClient, type EdgeReply, isNotRecognised } from './edge-request.ts';
import type { Exchange } from './exchange.ts';
import { createFairQueue } from '../shared/fair-queue.ts';
import { errorCode, type SidecarLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { PeerIdentity } from './token.ts';

type Outcome =
  /** One ACK, or the accept and the application acknowledgement, each for its own frame. */
  | { readonly kind: 'ack'; readonly acks: readonly Uint8Array[]; readonly close: boolean; readonly sender?: string }
  /** Stored, but the sender requested no acknowledgement (MSH-15, MSH-16). */
  | { readonly kind: 'no-ack'; readonly close: boolean; readonly sender?: string }
  /** Possibly not stored: must not be acknowledged. */
  | { readonly kind: 'unavailable' };

/** A message, and the ids that all its attempts log, here and at the edge. */
interface Forwarded {
  readonly bytes: Uint8Array;
  readonly exchange: Exchange;
}

/** @param signal ends the attempts, when no connection waits for the answer any more */
export type Forward = (message: Forwarded, peer: PeerIdentity, signal: AbortSignal) => Promise<Outcome>;

export interface ForwardOptions {
  readonly edge: EdgeClient;
  readonly retryMs: number;
  readonly attemptTimeoutMs: number;
  readonly concurrency: number;
  readonly metrics: Metrics;
  readonly log: SidecarLog;
}

/** The minimum time of the attempt that starts at the deadline. */
const LAST_TRY_MS = 1_000;
const BACKOFF: BackoffOptions = { firstMs: 100, factor: 2, maxMs: 3_000 };

export function createForward(options: ForwardOptions): Forward {
  const { edge, metrics, log } = options;
  const places = createFairQueue(options.concurrency, metrics.forwardWaiting);

  const attempt = async (
    { bytes, exchange }: Forwarded,
    peer: PeerIdentity,
    tries: Tries,
  ): Promise<Outcome | undefined> => {
    if (tries.signal.aborted) return undefined;
    const left = Math.max(tries.deadline - performance.now(), LAST_TRY_MS);
    const timeoutMs = Math.min(options.attemptTimeoutMs, left);
    try {
      const reply = await edge.ask({
        exchange,
        method: 'POST',
        path: MLLP_MESSAGES_PATH,
        peer,
        body: bytes,
        timeoutMs,
        signal: tries.signal,
      });
      const outcome = outcomeOf(reply);
      const result = outcome === undefined ? resultOf(reply) : 'answered';
      metrics.forwardAttempts.inc({ result });
      if (outcome === undefined)
        log({ level: 'warn', event: 'forward.refused', ...exchange, status: reply.status, result });
      return outcome;
    } catch (error) {
      if (tries.signal.aborted) return undefined;
      metrics.forwardAttempts.inc({ result: 'unreachable' });
      log({ level: 'warn', event: 'forward.unreachable', ...exchange, code: errorCode(error) });
      return undefined;
    }
  };

  return async (message, peer, signal) => {
    const source = addressKey(peer.address);
    const backoff = createBackoff(BACKOFF);
    const observe = metrics.forwardSeconds.startTimer();
    let tries: Tries | undefined;
    for (;;) {
      // The place is released between attempts, so that during an outage no connection waits for another's backoff.
      const outcome = await places.run(
        source,
        () => signal,
        () => {
          // The time starts with the first attempt: a wait for a place is not an outage.
          tries ??= { deadline: performance.now() + options.retryMs, signal };
          return attempt(message, peer, tries);
        },
      );
      if (outcome !== undefined) {
        observe();
        metrics.edgeReachable.set(1);
        return outcome;
      }
      if (tries === undefined || !(await backoff.wait(tries.deadline, signal))) return { kind: 'unavailable' };
    }
  };
}

interface Tries {
  /** In the time of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Undefined if the answer is not from the edge's ingest, or reports that storing may have failed. */
function outcomeOf({ status, headers, body }: EdgeReply): Outcome | undefined {
  const close = headers[MLLP_CONNECTION_HEADER] === 'close';
  const named = headers[MLLP_SENDER_HEADER];
  const sender = typeof named === 'string' ? { sender: named } : {};
  if (status === 204) return { kind: 'no-ack', close, ...sender };
  // A proxy's page with status 200 must not reach a sender as an acknowledgement.
  const isAck = status === 200 && body.byteLength > 0 && mediaType(headers['content-type']) === MLLP_CONTENT_TYPE;
  const acks = isAck ? acksOf(body, headers[MLLP_ACCEPT_LENGTH_HEADER]) : undefined;
  return acks === undefined ? undefined : { kind: 'ack', acks, close, ...sender };
}

/** Undefined if the length does not fit the body: not an answer of the edge. */
function acksOf(body: Buffer, acceptLength: string | string[] | undefined): Uint8Array[] | undefined {
  if (acceptLength === undefined) return [body];
  const length = typeof acceptLength === 'string' && /^[1-9]\d{0,8}$/.test(acceptLength) ? Number(acceptLength) : 0;
  return length > 0 && length < body.byteLength ? [body.subarray(0, length), body.subarray(length)] : undefined;
}

const mediaType = (value: string | undefined): string => (value ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function resultOf(reply: EdgeReply): string {
  if (reply.status >= 500) return 'server-error';
  return isNotRecognised(reply) ? 'not-recognised' : 'unexpected';
}
