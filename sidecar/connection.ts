/**
 * One sender's connection: bytes in, frames forwarded one after another, ACKs back in the order of the messages. A
 * message is acknowledged when the edge has answered it, or not at all: whatever ends the connection before that makes
 * the sender send it again.
 */
import type { Socket } from 'node:net';

import { createMllpDecoder, encodeMllpFrame, type MllpEvent } from '../shared/hl7/mllp.ts';
import { acknowledgmentCodeOf } from './ack-code.ts';
import type { Forward } from './forward.ts';
import type { HeldBytes } from './held-bytes.ts';
import { errorCode, framesOf, type SidecarLog } from './log.ts';
import type { Metrics, RefusalReason } from './metrics.ts';
import { answerOversized } from './oversized.ts';
import type { Pace } from './pace.ts';
import { strangerOf, TELLING_BYTES } from './stranger.ts';
import { sha256Of, type PeerIdentity } from './token.ts';

export interface ConnectionOptions {
  readonly forward: Forward;
  readonly pace: Pace;
  readonly heldBytes: HeldBytes;
  readonly metrics: Metrics;
  readonly log: SidecarLog;
  readonly maxFrameBytes: number;
  readonly frameTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface Connection {
  readonly closed: Promise<void>;
  /** Takes no more, finishes and acknowledges what has arrived whole, and closes. */
  drain(): void;
  /** At once. Nothing more is acknowledged. */
  abort(reason: RefusalReason): void;
}

/** Bytes before a VT, since the last frame (edge/README.md, MLLP). */
const MAX_JUNK_BYTES = 1024;
/** Reads pause while so much of one connection waits: a sender that pipelines is slowed, not refused. */
const MAX_QUEUED_FRAMES = 32;
const MAX_QUEUED_BYTES = 1024 * 1024;
/** After our FIN, bytes that were on their way are read and dropped: closing over them would reset our ACK away. */
const LINGER_MS = 2_000;
/** A sender that does not read its ACK. */
const ACK_TIMEOUT_MS = 60_000;

type Waiting = Extract<MllpEvent, { kind: 'frame' | 'oversized' }>;

export function serveConnection(socket: Socket, peer: PeerIdentity, options: ConnectionOptions): Connection {
  const { forward, pace, metrics, log } = options;
  const decoder = createMllpDecoder({ maxFrameBytes: options.maxFrameBytes });
  const held = options.heldBytes.open(peer.address);
  const gone = new AbortController();
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let start: string | undefined = '';
  /** No more is taken: the sender has ended, or we are about to. */
  let isEnding = false;
  let isWorking = false;
  let isFinished = false;
  let frameTimer: NodeJS.Timeout | undefined;

  const abort = (reason: RefusalReason): void => {
    if (socket.destroyed) return;
    metrics.refusals.inc({ reason });
    log.warn({ sourceAddress: peer.address, reason }, 'connection.refused');
    socket.destroy();
  };

  const finish = (): void => {
    isEnding = true;
    queue.length = 0;
    if (isFinished || socket.destroyed) return;
    isFinished = true;
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };

  const write = (message: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      const frame = encodeMllpFrame(message);
      const timer = setTimeout(() => abort('ack-not-taken'), ACK_TIMEOUT_MS);
      metrics.bytes.inc({ direction: 'out' }, frame.byteLength);
      // An error ends the connection by itself; here it only must not be waited for.
      socket.write(frame, () => {
        clearTimeout(timer);
        resolve();
      });
    });

  const answer = async (waiting: Waiting): Promise<void> => {
    if (waiting.kind === 'oversized') {
      const ack = answerOversized(waiting.head, options.maxFrameBytes);
      if (ack !== undefined) await write(ack);
      metrics.acks.inc({ code: ack === undefined ? 'none' : acknowledgmentCodeOf(ack) });
      return;
    }
    await pace(peer.address, gone.signal);
    const outcome = await forward(waiting.bytes, peer, gone.signal);
    if (gone.signal.aborted) return;
    if (outcome.kind === 'unavailable') return abort('edge-unavailable');
    const code = outcome.kind === 'ack' ? acknowledgmentCodeOf(outcome.ack) : 'none';
    if (outcome.kind === 'ack') await write(outcome.ack);
    metrics.acks.inc({ code });
    if (log.isLevelEnabled('debug')) {
      const { byteLength: bytes } = waiting.bytes;
      log.debug({ sourceAddress: peer.address, bytes, sha256: sha256Of(waiting.bytes), code }, 'message.answered');
    }
    if (outcome.close) finish();
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    for (let next = queue[0]; next !== undefined && !socket.destroyed; next = queue[0]) {
      await answer(next).catch((error: unknown) => {
        // A fault of ours must not end the connections of others; this one's sender sends again.
        log.error({ code: errorCode(error), at: framesOf(error) }, 'connection.failed');
        abort('internal-error');
      });
      queuedBytes -= sizeOf(next);
      queue.shift();
      takeOrPause();
    }
    isWorking = false;
    if (isEnding && !socket.destroyed) finish();
  };

  /** Back-pressure: TCP tells the sender to wait while too much of this connection, or of all, is in memory. */
  const takeOrPause = (): void => {
    held.set(queuedBytes + decoder.pendingBytes);
    if (isEnding || socket.destroyed) return;
    const isFull = queue.length >= MAX_QUEUED_FRAMES || queuedBytes >= MAX_QUEUED_BYTES;
    const holdsNothing = queue.length === 0 && decoder.pendingBytes === 0;
    if (holdsNothing || (!isFull && !held.isOver())) {
      socket.resume();
      watchFrame();
      return;
    }
    // Part of a frame and nothing queued: nothing will end that would let it go on.
    if (queue.length === 0) return abort('memory');
    socket.pause();
    clearTimeout(frameTimer);
    frameTimer = undefined;
  };

  /**
   * What was begun must become a frame within its time, not merely go on, be it a frame or what should have been one;
   * the time in which we did not read does not count.
   */
  const watchFrame = (): void => {
    const isOpen = decoder.isInFrame || decoder.junkBytes > 0;
    if (isOpen && frameTimer === undefined) {
      frameTimer = setTimeout(() => abort('frame-timeout'), options.frameTimeoutMs);
    } else if (!isOpen) {
      clearTimeout(frameTimer);
      frameTimer = undefined;
    }
  };

  const take = (event: MllpEvent): void => {
    switch (event.kind) {
      case 'frame':
      case 'oversized':
        metrics.frames.inc({ kind: event.kind === 'frame' ? 'whole' : 'oversized' });
        queue.push(event);
        queuedBytes += sizeOf(event);
        // The time of the frame that follows begins with it.
        clearTimeout(frameTimer);
        frameTimer = undefined;
        return;
      case 'interrupted':
        metrics.frames.inc({ kind: 'interrupted' });
        log.debug({ sourceAddress: peer.address, bytes: event.bytes }, 'frame.interrupted');
        return;
      case 'junk':
        metrics.junkBytes.inc(event.bytes);
        return;
      case 'warning':
        metrics.frames.inc({ kind: 'unterminated' });
        return;
    }
  };

  /** The reason to refuse whoever is no sender of MLLP; looks at the first bytes only. */
  const strangeness = (chunk: Buffer): RefusalReason | undefined => {
    if (start === undefined) return undefined;
    start += chunk.toString('latin1', 0, TELLING_BYTES - start.length);
    const reason = strangerOf(start);
    if (start.startsWith('\u000b') || start.length >= TELLING_BYTES) start = undefined;
    return reason;
  };

  socket.on('data', (chunk: Buffer) => {
    metrics.bytes.inc({ direction: 'in' }, chunk.byteLength);
    if (isEnding) return;
    const reason = strangeness(chunk);
    if (reason !== undefined) return abort(reason);
    for (const event of decoder.push(chunk)) take(event);
    if (decoder.junkBytes > MAX_JUNK_BYTES) return abort('junk');
    takeOrPause();
    void work();
  });
  // Half-open: what was sent before the FIN is answered all the same.
  socket.on('end', () => {
    for (const event of decoder.end()) take(event);
    isEnding = true;
    clearTimeout(frameTimer);
    if (!isWorking) void work();
  });
  socket.on('error', (error: NodeJS.ErrnoException) =>
    log.debug({ sourceAddress: peer.address, code: error.code }, 'connection.error'),
  );
  socket.setTimeout(options.idleTimeoutMs, () => {
    if (!isWorking) abort('idle-timeout');
  });

  socket.resume();

  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      clearTimeout(frameTimer);
      isEnding = true;
      queue.length = 0;
      held.close();
      gone.abort();
      resolve();
    });
  });

  return {
    closed,
    drain() {
      isEnding = true;
      clearTimeout(frameTimer);
      if (!isWorking) finish();
    },
    abort,
  };
}

const sizeOf = (waiting: Waiting): number =>
  waiting.kind === 'frame' ? waiting.bytes.byteLength : waiting.head.byteLength;
