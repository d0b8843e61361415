/**
 * MLLP framing (HL7 v2 Implementation Guide, appendix C; MLLP Release 1): VT, the message, FS, CR. The decoder uses no
 * sockets and no clock. It reads every byte once, and its memory is bounded.
 *
 * Some senders omit the CR. So FS also ends a frame behind a line end, or before LF, VT, FS and the end of the stream. Any other FS
 * is a character of a field: a frame that ended there would lose the rest of its message.
 */

const VT = 0x0b;
const FS = 0x1c;
const CR = 0x0d;
const LF = 0x0a;

/** Only the start of a frame over the limit is kept: enough to answer its MSH. */
const OVERSIZED_HEAD_BYTES = 4096;
/** The first buffer for a frame that arrives in several chunks; it doubles as the frame grows. */
const INITIAL_BUFFER_BYTES = 4096;
/** No buffer between frames: most connections are idle most of the time. */
const NO_BYTES = new Uint8Array(0);

export type MllpEvent =
  /** A message without its frame. The receiver owns the bytes. */
  | { readonly kind: 'frame'; readonly bytes: Uint8Array }
  /** The end of a frame over the limit, with its first bytes. Decoding continues behind it. */
  | { readonly kind: 'oversized'; readonly head: Uint8Array }
  /** A frame was dropped because another began inside it or the stream ended. */
  | { readonly kind: 'interrupted'; readonly bytes: number }
  /** Dropped bytes outside frames. Line ends do not count, because senders put them between frames. */
  | { readonly kind: 'junk'; readonly bytes: number }
  | { readonly kind: 'warning'; readonly what: 'no-cr-after-fs' };

export interface MllpDecoderOptions {
  /** The longest message, inclusive. */
  readonly maxFrameBytes: number;
}

export interface MllpDecoder {
  /** @param chunk received bytes, divided anywhere; the caller may reuse the buffer */
  push(chunk: Uint8Array): MllpEvent[];
  /** Ends the frame of which `isAfterFs` is true: its sender omits the CR. */
  flush(): MllpEvent[];
  /** Reports the end of the stream. */
  end(): MllpEvent[];
  /** Buffered bytes of the incomplete frame; 0 between frames. */
  readonly pendingBytes: number;
  /** Junk since the last complete frame. Much of it means that the peer uses another protocol. */
  readonly junkBytes: number;
  /** True from a frame's VT to its end. */
  readonly isInFrame: boolean;
  /** True if the next byte decides whether the last one, FS, ends the frame. */
  readonly isAfterFs: boolean;
}

/** `ended`: behind the FS of a complete frame. `after-fs`: behind an FS whose meaning is not known yet. */
type State = 'outside' | 'inside' | 'after-fs' | 'ended';

const FS_BYTE = Uint8Array.of(FS);
const isLineEnd = (byte: number | undefined): boolean => byte === CR || byte === LF;
/** The bytes that show, behind an FS, that it ends the frame. */
const isAfterEnd = (byte: number | undefined): boolean => isLineEnd(byte) || byte === VT || byte === FS;

/** The next index of the byte, or the end of the chunk. */
function find(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at < 0 ? chunk.length : at;
}

function countJunk(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte !== CR && byte !== LF) count += 1;
  return count;
}

export function createMllpDecoder({ maxFrameBytes }: MllpDecoderOptions): MllpDecoder {
  const headBytes = Math.min(OVERSIZED_HEAD_BYTES, maxFrameBytes);
  let state: State = 'outside';
  let buffer = NO_BYTES;
  let kept = 0;
  /** Bytes of the frame so far, including those over the limit, which are not kept. */
  let length = 0;
  /** The last byte of the frame so far. */
  let last: number | undefined;
  let junk = 0;
  let junkSinceFrame = 0;
  let events: MllpEvent[] = [];

  const forget = (): void => {
    buffer = NO_BYTES;
    kept = 0;
    length = 0;
    last = undefined;
  };

  const keep = (bytes: Uint8Array): void => {
    length += bytes.length;
    last = bytes.at(-1) ?? last;
    const limit = length > maxFrameBytes ? headBytes : maxFrameBytes;
    if (kept > limit) {
      buffer = buffer.slice(0, limit);
      kept = limit;
    }
    const room = bytes.subarray(0, limit - kept);
    const needed = kept + room.length;
    if (needed > buffer.length) {
      const doubled = Math.min(Math.max(buffer.length * 2, INITIAL_BUFFER_BYTES), maxFrameBytes);
      const larger = new Uint8Array(Math.max(needed, doubled));
      larger.set(buffer.subarray(0, kept));
      buffer = larger;
    }
    buffer.set(room, kept);
    kept = needed;
  };

  const reportJunk = (): void => {
    if (junk > 0) events.push({ kind: 'junk', bytes: junk });
    junk = 0;
  };

  const skip = (bytes: Uint8Array): void => {
    const count = countJunk(bytes);
    junk += count;
    junkSinceFrame += count;
  };

  /** A VT begins a frame and never ends one: an interrupted frame is dropped, so that two messages never mix. */
  const begin = (): void => {
    reportJunk();
    // A doubled VT interrupts nothing.
    if (length > 0) events.push({ kind: 'interrupted', bytes: length });
    forget();
    state = 'inside';
  };

  /** @param rest the bytes of the frame that are not buffered yet */
  const finish = (rest: Uint8Array = NO_BYTES): void => {
    if (length === 0 && rest.length <= maxFrameBytes) {
      events.push({ kind: 'frame', bytes: new Uint8Array(rest) });
    } else {
      keep(rest);
      const bytes = buffer.slice(0, kept);
      events.push(length > maxFrameBytes ? { kind: 'oversized', head: bytes } : { kind: 'frame', bytes });
    }
    forget();
    junkSinceFrame = 0;
    state = 'ended';
  };

  /** Reads the byte behind a frame: its CR. */
  const closeWith = (byte: number | undefined): boolean => {
    state = 'outside';
    if (byte !== CR) events.push({ kind: 'warning', what: 'no-cr-after-fs' });
    return byte === CR;
  };

  return {
    push(chunk) {
      events = [];
      // Each search continues at the end of the last one, so that no byte is searched twice.
      let vt = -1;
      let fs = -1;
      let at = 0;
      while (at < chunk.length) {
        if (state === 'after-fs') {
          if (isAfterEnd(chunk[at])) finish();
          else {
            keep(FS_BYTE);
            state = 'inside';
          }
        }
        if (state === 'ended') {
          if (closeWith(chunk[at])) at += 1;
          continue;
        }
        if (vt < at) vt = find(chunk, VT, at);
        if (state === 'outside') {
          skip(chunk.subarray(at, vt));
          if (vt < chunk.length) begin();
          at = vt + 1;
          continue;
        }
        if (fs < at) fs = find(chunk, FS, at);
        const end = Math.min(vt, fs);
        const bytes = chunk.subarray(at, end);
        if (end === chunk.length) {
          keep(bytes);
        } else if (end === fs) {
          const before = bytes.at(-1) ?? last;
          if (before === undefined || isLineEnd(before) || isAfterEnd(chunk[end + 1])) finish(bytes);
          else {
            keep(bytes);
            state = 'after-fs';
          }
        } else {
          length += bytes.length;
          begin();
        }
        at = end + 1;
      }
      return events;
    },
    flush() {
      events = [];
      if (state === 'after-fs') finish();
      return events;
    },
    end() {
      events = [];
      if (state === 'after-fs') finish();
      reportJunk();
      if (length > 0) events.push({ kind: 'interrupted', bytes: length });
      if (state === 'ended') closeWith(undefined);
      forget();
      junkSinceFrame = 0;
      state = 'outside';
      return events;
    },
    get pendingBytes() {
      return kept;
    },
    get junkBytes() {
      return junkSinceFrame;
    },
    get isInFrame() {
      return state === 'inside' || state === 'after-fs';
    },
    get isAfterFs() {
      return state === 'after-fs';
    },
  };
}

export function encodeMllpFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 3);
  frame[0] = VT;
  frame.set(message, 1);
  frame[message.length + 1] = FS;
  frame[message.length + 2] = CR;
  return frame;
}
