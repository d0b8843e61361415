/**
 * One sender's connection: bytes in, frames forwarded one after another, ACKs back in the order of the messages. A
 * message is acknowledged when the edge has answered it, or not at all: whatever ends the connection before that makes
 * the sender send it again.
 */
import type { Socket } from 'node:net';

import { addressKey } from '../shared/ip.ts';
import { createAckWriter } from './ack-writer.ts';
import type { WaitForTurn } from './address-rate-limit.ts';
import type { Place } from './connection-limits.ts';
import { beginExchange } from './exchange.ts';
import type { Forward } from './forward.ts';
import { createFrameQueue, type QueuedFrame } from './frame-queue.ts';
import { createFrameReader } from './frame-reader.ts';
import { createFrameTimer } from './frame-timer.ts';
import type { SidecarLog } from './log.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Metrics, RefusalReason } from './metrics.ts';
import { answerOversized } from './oversized-ack.ts';
import { sha256Of, type PeerIdentity } from './token.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';

export interface ConnectionOptions {
  readonly forward: Forward;
  readonly waitForTurn: WaitForTurn;
  readonly memoryBudget: MemoryBudget;
  readonly unfinishedFrames: UnfinishedFrames;
  readonly metrics: Metrics;
  readonly log: SidecarLog;
  readonly maxFrameBytes: number;
  readonly frameTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly place: Place;
}

export interface Connection {
  readonly closed: Promise<void>;
  /** Takes no more, finishes and acknowledges what has arrived whole, and closes. */
  drain(): void;
  /** At once. Nothing more is acknowledged. */
  abort(reason: RefusalReason): void;
}

/** After our FIN, bytes that were on their way are read and dropped: closing over them would reset our ACK away. */
const LINGER_MS = 2_000;

export function serveConnection(socket: Socket, peer: PeerIdentity, options: ConnectionOptions): Connection {
  const { forward, waitForTurn, metrics, log, place } = options;
  const sourceAddress = peer.address;
  const gone = new AbortController();
  /** No more is taken: the sender has ended, or we are about to. */
  let isEnding = false;
  let isWorking = false;
  let isFinished = false;

  const abort = (reason: RefusalReason): void => {
    if (socket.destroyed) return;
    metrics.refusals.inc({ reason });
    log({ level: 'warn', event: 'connection.refused', sourceAddress, reason });
    socket.destroy();
  };

  const reader = createFrameReader({ ...options, sourceAddress });
  const share = options.memoryBudget.open(sourceAddress);
  const queue = createFrameQueue(share);
  const frameTimer = createFrameTimer(options.frameTimeoutMs, () => abort('frame-timeout'));
  const unfinished = options.unfinishedFrames.open(addressKey(sourceAddress), () =>
    abort('too-many-unfinished-frames'),
  );
  /** While we do not read, it is not the sender's fault that a frame does not end. */
  const watchFrame = (isBegun: boolean): void => {
    frameTimer.watch(isBegun);
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
    await waitForTurn(sourceAddress, gone.signal);
    const { bytes } = frame;
    const exchange = beginExchange();
    const outcome = await forward({ bytes, exchange }, peer, gone.signal);
    if (gone.signal.aborted) return;
    if (outcome.kind === 'unavailable') return abort('edge-unavailable');
    let code = '';
    for (const ack of outcome.kind === 'ack' ? outcome.acks : [undefined]) code = await writeAck(ack);
    if (log.isDebug) {
      const [sha256, length] = [sha256Of(bytes), bytes.byteLength];
      log({ level: 'debug', event: 'message.answered', ...exchange, sourceAddress, bytes: length, sha256, code });
    }
    if (outcome.close) finish();
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    for (let next = queue.first(); next !== undefined && !socket.destroyed; next = queue.first()) {
      await answer(next).catch((error: unknown) => {
        // A fault of ours must not end the connections of others; this one's sender sends again.
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

  socket.on('data', (chunk: Buffer) => {
    metrics.bytes.inc({ direction: 'in' }, chunk.byteLength);
    if (isEnding) return;
    const frames = reader.push(chunk);
    if (typeof frames === 'string') return abort(frames);
    for (const frame of frames) queue.push(frame);
    // The time of the frame that follows begins with it.
    if (frames.length > 0) {
      watchFrame(false);
      place.hasSent();
    }
    readOrPause();
    void work();
  });
  // Half-open: what was sent before the FIN is answered all the same.
  socket.on('end', () => {
    reader.end();
    isEnding = true;
    watchFrame(false);
    if (!isWorking) void work();
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) =>
    log({ level: 'debug', event: 'connection.error', sourceAddress, code }),
  );
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
      resolve();
    });
  });

  return {
    closed,
    drain() {
      isEnding = true;
      watchFrame(false);
      if (!isWorking) finish();
    },
    abort,
  };
}
