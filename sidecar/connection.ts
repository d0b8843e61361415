/**
 * One sender's connection: receives bytes, forwards frames one after another, and returns ACKs in order. A message is
 * acknowledged only after the edge has answered it. If the connection ends before, the sender sends it again.
 */
import type { Socket } from 'node:net';

import { addressKey } from '../shared/ip.ts';
import { createAckWriter } from './ack-writer.ts';
import type { Pace } from './address-rate-limit.ts';
import type { Recorded } from './connection-history.ts';
import type { Place } from './connection-limits.ts';
import { beginExchange } from './exchange.ts';
import type { Forward } from './forward.ts';
import { createFrameQueue, type QueuedFrame } from './frame-queue.ts';
import { createFrameReader } from './frame-reader.ts';
import { createFrameTimer } from './frame-timer.ts';
import type { SidecarLog } from './log.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { CloseReason, Metrics, RefusalReason } from './metrics.ts';
import { answerOversized } from './oversized-ack.ts';
import { sha256Of, type PeerIdentity } from './token.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';

export interface ConnectionOptions {
  readonly forward: Forward;
  readonly pace: Pace;
  readonly memoryBudget: MemoryBudget;
  readonly unfinishedFrames: UnfinishedFrames;
  readonly metrics: Metrics;
  readonly log: SidecarLog;
  readonly maxFrameBytes: number;
  readonly frameTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly place: Place;
  readonly recorded: Recorded;
}

export interface Connection {
  readonly closed: Promise<void>;
  /** Accepts no more bytes, finishes and acknowledges complete frames, and closes. */
  drain(): void;
  /** Closes immediately, without further acknowledgements. */
  abort(reason: RefusalReason): void;
}

/** For senders without a CR behind FS: the other bytes of a field that contains FS arrive within this time. */
const NEXT_BYTE_MS = 200;

/** After the FIN, late bytes are read and dropped: closing with unread bytes would reset the connection and lose the ACK. */
const LINGER_MS = 2_000;

export function serveConnection(socket: Socket, peer: PeerIdentity, options: ConnectionOptions): Connection {
  const { forward, pace, metrics, log, place, recorded } = options;
  const sourceAddress = peer.address;
  const gone = new AbortController();
  /** No more bytes are accepted: the sender has ended, or the sidecar is about to. */
  let isEnding = false;
  let isWorking = false;
  let isFinished = false;
  /** The first reason counts: a destroyed socket has further events. */
  let endedBy: CloseReason | undefined;

  const abort = (reason: RefusalReason): void => {
    if (socket.destroyed) return;
    endedBy ??= reason;
    metrics.refusals.inc({ reason });
    log({ level: 'warn', event: 'connection.refused', sourceAddress, reason });
    socket.destroy();
  };

  const reader = createFrameReader({ ...options, sourceAddress });
  const share = options.memoryBudget.open(sourceAddress);
  const queue = createFrameQueue(share);
  const frameTimer = createFrameTimer(options.frameTimeoutMs, () => abort('frame-timeout'));
  const endTimer = createFrameTimer(NEXT_BYTE_MS, () => accept(reader.flush()));
  const unfinished = options.unfinishedFrames.open(addressKey(sourceAddress), () =>
    abort('too-many-unfinished-frames'),
  );
  /** The timers stop while reading is paused, because the sender cannot finish its frame then. */
  const watchFrame = (isBegun: boolean): void => {
    frameTimer.watch(isBegun);
    endTimer.watch(isBegun && reader.isAfterFs);
    unfinished.watch(isBegun);
  };
  const writeAck = createAckWriter(socket, metrics, () => abort('ack-not-taken'));

  const finish = (): void => {
    isEnding = true;
    queue.clear();
    if (isFinished || socket.destroyed) return;
    isFinished = true;
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };

  const answer = async (frame: QueuedFrame): Promise<void> => {
    if (frame.kind === 'oversized') {
      await writeAck(answerOversized(frame.head, options.maxFrameBytes));
      return;
    }
    await pace(sourceAddress, gone.signal);
    const { bytes } = frame;
    const exchange = beginExchange();
    const outcome = await forward({ bytes, exchange }, peer, gone.signal);
    if (gone.signal.aborted) return;
    if (outcome.kind === 'unavailable') return abort('edge-unavailable');
    if (outcome.sender !== undefined) recorded.sentFor(outcome.sender);
    let code = '';
    for (const ack of outcome.kind === 'ack' ? outcome.acks : [undefined]) code = await writeAck(ack);
    if (log.isDebug) {
      const [sha256, length] = [sha256Of(bytes), bytes.byteLength];
      log({ level: 'debug', event: 'message.answered', ...exchange, sourceAddress, bytes: length, sha256, code });
    }
    if (!outcome.close) return;
    endedBy ??= 'sender-unknown';
    finish();
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    for (let next = queue.first(); next !== undefined && !socket.destroyed; next = queue.first()) {
      await answer(next).catch((error: unknown) => {
        // An internal error must not end other connections; this sender sends the message again.
        log({ level: 'error', event: 'connection.failed', error });
        abort('internal-error');
      });
      queue.shift();
      readOrPause();
    }
    isWorking = false;
    if (isEnding && !socket.destroyed) finish();
  };

  const readOrPause = (): void => {
    const advice = queue.reckon(reader.pendingBytes);
    place.setBusy(isEnding || reader.isBegun || queue.first() !== undefined);
    if (isEnding || socket.destroyed) return;
    switch (advice) {
      case 'read':
        socket.resume();
        watchFrame(reader.isBegun);
        return;
      case 'pause':
        socket.pause();
        watchFrame(false);
        return;
      case 'stuck':
        return abort('memory');
    }
  };

  const accept = (frames: readonly QueuedFrame[]): void => {
    endTimer.watch(false);
    if (isEnding) return;
    for (const frame of frames) queue.push(frame);
    // The time of the next frame starts now.
    if (frames.length > 0) {
      watchFrame(false);
      place.hasSent();
    }
    readOrPause();
    void work();
  };

  socket.on('data', (chunk: Buffer) => {
    metrics.bytes.inc({ direction: 'in' }, chunk.byteLength);
    if (isEnding) return;
    const frames = reader.push(chunk);
    if (typeof frames === 'string') return abort(frames);
    accept(frames);
  });
  // Half-open: frames before the FIN are still answered.
  socket.on('end', () => {
    endedBy ??= 'sender-closed';
    accept(reader.end());
    isEnding = true;
    watchFrame(false);
    if (!isWorking) void work();
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    endedBy ??= 'connection-lost';
    log({ level: 'debug', event: 'connection.error', sourceAddress, code });
  });
  socket.setTimeout(options.idleTimeoutMs, () => {
    if (!isWorking) abort('idle-timeout');
  });

  socket.resume();

  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      watchFrame(false);
      isEnding = true;
      queue.clear();
      share.close();
      gone.abort();
      recorded.close(endedBy ?? 'connection-lost');
      resolve();
    });
  });

  return {
    closed,
    drain() {
      endedBy ??= 'shutting-down';
      isEnding = true;
      watchFrame(false);
      if (!isWorking) finish();
    },
    abort,
  };
}
