/**
 * MLLP framing (HL7 v2 Implementation Guide, appendix C; MLLP Release 1): VT, the message, FS, CR. The decoder knows no
 * sockets and no clock. Every byte is looked at once, however the stream is cut, and what is held is bounded.
 */

const VT = 0x0b;
const FS = 0x1c;
const CR = 0x0d;
const LF = 0x0a;

/** Of a frame over the limit only so much is kept: enough to answer its MSH. */
const OVERSIZED_HEAD_BYTES = 4096;
/** The buffer a frame starts with; it doubles as the frame grows. */
const INITIAL_BUFFER_BYTES = 4096;

export type MllpEvent =
  /** A whole message, without its frame. */
  | { readonly kind: 'frame'; readonly bytes: Uint8Array }
  /** A frame over the limit, now ended: its first bytes. The stream goes on behind it. */
  | { readonly kind: 'oversized'; readonly head: Uint8Array }
  /** A frame that was begun and dropped, because another began inside it or the stream ended. */
  | { readonly kind: 'interrupted'; readonly bytes: number }
  /** Bytes outside any frame, dropped. */
  | { readonly kind: 'junk'; readonly bytes: number }
  | { readonly kind: 'warning'; readonly what: 'no-cr-after-fs' };

export interface MllpDecoderOptions {
  /** The longest message, inclusive. */
  readonly maxFrameBytes: number;
}

export interface MllpDecoder {
  /** @param chunk what came, cut anywhere; it may be reused afterwards */
  push(chunk: Uint8Array): MllpEvent[];
  /** The stream has ended. */
  end(): MllpEvent[];
  /** Bytes of the frame that is not complete yet; 0 between frames. */
  readonly pendingBytes: number;
  /** True from a frame's VT to its FS. */
  readonly isInFrame: boolean;
}

type State = 'outside' | 'inside' | 'after-fs';

export function createMllpDecoder({ maxFrameBytes }: MllpDecoderOptions): MllpDecoder {
  let state: State = 'outside';
  let buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
  let kept = 0;
  /** Bytes of the frame so far, also those over the limit, which are not kept. */
  let length = 0;
  let junk = 0;
  let events: MllpEvent[] = [];

  const keep = (bytes: Uint8Array): void => {
    length += bytes.length;
    const limit = length > maxFrameBytes ? Math.min(OVERSIZED_HEAD_BYTES, maxFrameBytes) : maxFrameBytes;
    if (kept >= limit) return;
    const room = bytes.subarray(0, limit - kept);
    if (kept + room.length > buffer.length) {
      const larger = new Uint8Array(Math.max(kept + room.length, Math.min(buffer.length * 2, maxFrameBytes)));
      larger.set(buffer.subarray(0, kept));
      buffer = larger;
    }
    buffer.set(room, kept);
    kept += room.length;
  };

  const begin = (): void => {
    state = 'inside';
    kept = 0;
    length = 0;
    // One large message must not hold its memory for the rest of the connection.
    if (buffer.length > INITIAL_BUFFER_BYTES) buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
  };

  const reportJunk = (): void => {
    if (junk > 0) events.push({ kind: 'junk', bytes: junk });
    junk = 0;
  };

  const finish = (): void => {
    state = 'after-fs';
    if (length > maxFrameBytes) {
      events.push({ kind: 'oversized', head: buffer.slice(0, Math.min(kept, OVERSIZED_HEAD_BYTES)) });
    } else {
      events.push({ kind: 'frame', bytes: buffer.slice(0, kept) });
    }
    kept = 0;
    length = 0;
  };

  /** Outside a frame everything up to the next VT is junk, but for line ends, which senders put between frames. */
  const skipOutside = (chunk: Uint8Array, from: number): number => {
    const start = chunk.indexOf(VT, from);
    const end = start < 0 ? chunk.length : start;
    for (let i = from; i < end; i += 1) if (chunk[i] !== CR && chunk[i] !== LF) junk += 1;
    if (start < 0) return end;
    reportJunk();
    begin();
    return start + 1;
  };

  /** The next VT or FS from `from`; a VT inside a frame can only be the next one's beginning. */
  const readInside = (chunk: Uint8Array, from: number): number => {
    let at = from;
    while (at < chunk.length && chunk[at] !== FS && chunk[at] !== VT) at += 1;
    if (at > from) keep(chunk.subarray(from, at));
    if (at === chunk.length) return at;
    if (chunk[at] === FS) {
      finish();
      return at + 1;
    }
    // A doubled VT interrupts nothing.
    if (length > 0) events.push({ kind: 'interrupted', bytes: length });
    begin();
    return at + 1;
  };

  return {
    push(chunk) {
      events = [];
      let at = 0;
      while (at < chunk.length) {
        if (state === 'outside') {
          at = skipOutside(chunk, at);
        } else if (state === 'inside') {
          at = readInside(chunk, at);
        } else {
          state = 'outside';
          if (chunk[at] === CR) at += 1;
          else events.push({ kind: 'warning', what: 'no-cr-after-fs' });
        }
      }
      return events;
    },
    end() {
      events = [];
      reportJunk();
      if (state === 'inside' && length > 0) events.push({ kind: 'interrupted', bytes: length });
      state = 'outside';
      kept = 0;
      length = 0;
      return events;
    },
    get pendingBytes() {
      return kept;
    },
    get isInFrame() {
      return state === 'inside';
    },
  };
}

/** A message in its frame. */
export function encodeMllpFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 3);
  frame[0] = VT;
  frame.set(message, 1);
  frame[message.length + 1] = FS;
  frame[message.length + 2] = CR;
  return frame;
}
