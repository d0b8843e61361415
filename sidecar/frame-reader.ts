/** Decodes the frames of one connection, rejects other protocols, and counts dropped bytes. */
import { createMllpDecoder, type MllpEvent } from '../shared/hl7/mllp.ts';
import type { QueuedFrame } from './frame-queue.ts';
import type { SidecarLog } from './log.ts';
import type { Metrics, RefusalReason } from './metrics.ts';
import { createProtocolCheck } from './other-protocol.ts';

/** Junk bytes since the last frame (edge/docs/behaviour.md, MLLP). */
const MAX_JUNK_BYTES = 1024;

export interface FrameReader {
  /** @returns the frames that are now complete, or the reason to close the connection */
  push(chunk: Buffer): readonly QueuedFrame[] | RefusalReason;
  /** @returns the frame that only the CR is missing of, as no byte follows */
  flush(): readonly QueuedFrame[];
  /** Reads the sender's FIN. @returns the same */
  end(): readonly QueuedFrame[];
  /** Buffered bytes of the incomplete frame. */
  readonly pendingBytes: number;
  /** True if bytes arrived that are not a complete frame yet, junk included. */
  readonly isBegun: boolean;
  /** True if the next byte decides whether a frame is complete. */
  readonly isAfterFs: boolean;
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

  /** Counts an event; returns its frame, if any. */
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
    flush: () => decoder.flush().flatMap(frameOf),
    end: () => decoder.end().flatMap(frameOf),
    get pendingBytes() {
      return decoder.pendingBytes;
    },
    get isBegun() {
      return decoder.isInFrame || decoder.junkBytes > 0;
    },
    get isAfterFs() {
      return decoder.isAfterFs;
    },
  };
}
