/** From the bytes of one connection to its frames: what is no MLLP is refused by name, what is dropped is counted. */
import { createMllpDecoder, type MllpEvent } from '../shared/hl7/mllp.ts';
import type { QueuedFrame } from './frame-queue.ts';
import type { SidecarLog } from './log.ts';
import type { Metrics, RefusalReason } from './metrics.ts';
import { createProtocolCheck } from './other-protocol.ts';

/** Bytes before a VT, since the last frame (edge/docs/behaviour.md, MLLP). */
const MAX_JUNK_BYTES = 1024;

export interface FrameReader {
  /** @returns the frames that are complete now, or why the connection must end */
  push(chunk: Buffer): readonly QueuedFrame[] | RefusalReason;
  /** The sender has ended. */
  end(): void;
  /** Bytes that are held of the frame that is not complete yet. */
  readonly pendingBytes: number;
  /** Whether bytes have come that are no whole frame yet, be it a frame or what should have been one. */
  readonly isBegun: boolean;
}

export interface FrameReaderOptions {
  readonly sourceAddress: string;
  readonly maxFrameBytes: number;
  readonly metrics: Metrics;
  readonly log: SidecarLog;
}

export function createFrameReader({ sourceAddress, maxFrameBytes, metrics, log }: FrameReaderOptions): FrameReader {
  const decoder = createMllpDecoder({ maxFrameBytes });
  const otherProtocol = createProtocolCheck();

  /** Counts what happened; a frame comes back. */
  const frameOf = (event: MllpEvent): readonly QueuedFrame[] => {
    switch (event.kind) {
      case 'frame':
      case 'oversized':
        metrics.frames.inc({ kind: event.kind === 'frame' ? 'whole' : 'oversized' });
        return [event];
      case 'interrupted':
        metrics.frames.inc({ kind: 'interrupted' });
        log({ level: 'debug', event: 'frame.interrupted', sourceAddress, bytes: event.bytes });
        return [];
      case 'junk':
        metrics.junkBytes.inc(event.bytes);
        return [];
      case 'warning':
        metrics.frames.inc({ kind: 'unterminated' });
        return [];
    }
  };

  return {
    push(chunk) {
      const reason = otherProtocol(chunk);
      if (reason !== undefined) return reason;
      const frames = decoder.push(chunk).flatMap(frameOf);
      return decoder.junkBytes > MAX_JUNK_BYTES ? 'junk' : frames;
    },
    end() {
      for (const event of decoder.end()) frameOf(event);
    },
    get pendingBytes() {
      return decoder.pendingBytes;
    },
    get isBegun() {
      return decoder.isInFrame || decoder.junkBytes > 0;
    },
  };
}
