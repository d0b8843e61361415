/**
 * The unanswered messages of one connection, in order, and the decision to read more. TCP makes the sender wait while this
 * connection, or all of them, keep too much in memory.
 */
import type { MllpEvent } from '../shared/hl7/mllp.ts';
import type { MemoryShare } from './memory-budget.ts';

/** Reading pauses at this length: a sender that pipelines is slowed down, not rejected. */
const MAX_QUEUED_FRAMES = 32;
const MAX_QUEUED_BYTES = 1024 * 1024;

export type QueuedFrame = Extract<MllpEvent, { kind: 'frame' | 'oversized' }>;

export interface FrameQueue {
  push(frame: QueuedFrame): void;
  /** The next message to answer; `shift` removes it. */
  first(): QueuedFrame | undefined;
  shift(): void;
  clear(): void;
  /**
   * Updates the connection's memory and returns what to do. `stuck`: an incomplete frame needs memory, and no queued
   * message will release any.
   *
   * @param pendingBytes the bytes of the incomplete frame
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
