/**
 * The messages of one connection that wait for their answer, in the order they came, and what follows from their size:
 * whether more may be read. TCP tells the sender to wait while too much of this connection, or of all, is in memory.
 */
import type { MllpEvent } from '../shared/hl7/mllp.ts';
import type { MemoryShare } from './memory-budget.ts';

/** Reads pause while so much of one connection waits: a sender that pipelines is slowed, not refused. */
const MAX_QUEUED_FRAMES = 32;
const MAX_QUEUED_BYTES = 1024 * 1024;

export type QueuedFrame = Extract<MllpEvent, { kind: 'frame' | 'oversized' }>;

export interface FrameQueue {
  push(frame: QueuedFrame): void;
  /** The one to answer next; it stays until `shift`. */
  first(): QueuedFrame | undefined;
  /** The first one is answered. */
  shift(): void;
  clear(): void;
  /**
   * Reckons what the connection holds, and says what to do. `stuck`: part of a frame is held, nothing is queued whose
   * answer would make room, and there is no room for more.
   *
   * @param pendingBytes held of the frame that is not complete yet
   */
  reckon(pendingBytes: number): 'read' | 'pause' | 'stuck';
}

const sizeOf = (frame: QueuedFrame): number =>
  frame.kind === 'frame' ? frame.bytes.byteLength : frame.head.byteLength;

export function createFrameQueue(share: MemoryShare): FrameQueue {
  const frames: QueuedFrame[] = [];
  let bytes = 0;

  return {
    push(frame) {
      frames.push(frame);
      bytes += sizeOf(frame);
    },
    first: () => frames[0],
    shift() {
      const answered = frames.shift();
      if (answered !== undefined) bytes -= sizeOf(answered);
    },
    clear() {
      frames.length = 0;
      bytes = 0;
    },
    reckon(pendingBytes) {
      share.set(bytes + pendingBytes);
      const isFull = frames.length >= MAX_QUEUED_FRAMES || bytes >= MAX_QUEUED_BYTES;
      const holdsNothing = frames.length === 0 && pendingBytes === 0;
      if (holdsNothing || (!isFull && !share.isOver())) return 'read';
      return frames.length === 0 ? 'stuck' : 'pause';
    },
  };
}
