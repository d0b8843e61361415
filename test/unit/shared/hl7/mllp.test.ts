/** MLLP framing: the faults of real connections, one per test, and frames divided at every position. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { createMllpDecoder, encodeMllpFrame, type MllpDecoder, type MllpEvent } from '../../../../shared/hl7/mllp.ts';
import { inputs } from '../../../stack/tools/size.ts';

const VT = 0x0b;
const FS = 0x1c;
const CR = 0x0d;
const MEBIBYTE = 1024 * 1024;
const MAX_FRAME_BYTES = 64;

/** `<` is VT, `>` is FS, `,` is CR, `.` is LF. */
const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) =>
    '<>,.'.includes(character) ? ([VT, FS, CR, 0x0a]['<>,.'.indexOf(character)] ?? 0) : character.charCodeAt(0),
  );

const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1').replaceAll('\u001c', '>');

const show = (event: MllpEvent): string => {
  switch (event.kind) {
    case 'frame':
      return `frame ${shown(event.bytes)}`;
    case 'oversized':
      return `oversized ${shown(event.head)}`;
    case 'interrupted':
    case 'junk':
      return `${event.kind} ${event.bytes}`;
    case 'warning':
      return event.what;
  }
};

const decoderOf = (maxFrameBytes = MAX_FRAME_BYTES): MllpDecoder => createMllpDecoder({ maxFrameBytes });

/** All events of a stream that arrives in these pieces and then ends. */
function read(pieces: readonly Uint8Array[], maxFrameBytes?: number): string[] {
  const decoder = decoderOf(maxFrameBytes);
  const events = pieces.flatMap((piece) => {
    const mine = Uint8Array.from(piece);
    const found = decoder.push(mine);
    // Sockets may use their memory again.
    mine.fill(0x3f);
    return found;
  });
  return [...events, ...decoder.end()].map(show);
}

const byteByByte = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte));
const cutEvery = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

describe('faults of the field', () => {
  const long = 'x'.repeat(MAX_FRAME_BYTES);
  test.each<[string, string, string[]]>([
    ['one message', '<MSH>,', ['frame MSH']],
    ['several messages in one packet', '<A>,<B>,<C>,', ['frame A', 'frame B', 'frame C']],
    ['an empty frame', '<>,', ['frame ']],
    ['an empty stream', '', []],
    ['CR in a message', '<A,B,>,', ['frame A\rB\r']],
    ['a doubled VT', '<<A>,', ['frame A']],
    ['a VT three times', '<<<A>,', ['frame A']],
    ['a cut frame and a new VT: never mixed', '<Anna<Bert>,', ['interrupted 4', 'frame Bert']],
    ['cut twice', '<A<BC<D>,', ['interrupted 1', 'interrupted 2', 'frame D']],
    ['a cut frame and a doubled VT', '<A<<B>,', ['interrupted 1', 'frame B']],
    ['a cut frame at the end', '<A>,<BC', ['frame A', 'interrupted 2']],
    ['only a VT', '<', []],
    ['FS without CR, then the next', '<A><B>,', ['frame A', 'no-cr-after-fs', 'frame B']],
    ['FS without CR at the end', '<A>', ['frame A', 'no-cr-after-fs']],
    ['LF for CR', '<A>.<B>,', ['frame A', 'no-cr-after-fs', 'frame B']],
    ['CR and LF', '<A>,.<B>,', ['frame A', 'frame B']],
    ['FS twice', '<A>>,<B>,', ['frame A', 'no-cr-after-fs', 'junk 1', 'frame B']],
    ['FS CR twice', '<A>,>,<B>,', ['frame A', 'junk 1', 'frame B']],
    ['FS in a field does not end the message', '<A>B>,<C>,', ['frame A>B', 'frame C']],
    ['FS in several fields', '<A>B>C,D>E,>,', ['frame A>B>C\rD>E\r']],
    ['FS in a field of a cut frame', '<A>B<C>,', ['interrupted 3', 'frame C']],
    ['FS behind a line end, without CR', '<A,>junk<B>,', ['frame A\r', 'no-cr-after-fs', 'junk 4', 'frame B']],
    ['FS in a field, and no end', '<A>B', ['interrupted 3']],
    ['FS in a field that is too long', `<A>${long}>,`, [`oversized A>${long.slice(2)}`]],
    ['bytes before VT', 'GET / HTTP<A>,', ['junk 10', 'frame A']],
    ['bytes between frames', '<A>,junk<B>,', ['frame A', 'junk 4', 'frame B']],
    ['line ends between frames', '<A>,,..,<B>,', ['frame A', 'frame B']],
    ['only junk', 'MSH|^~', ['junk 6']],
    ['only FS CR', '>,', ['junk 1']],
    ['a message of the greatest length', `<${long}>,`, [`frame ${long}`]],
    ['a message one longer, then the next', `<${long}y>,<A>,`, [`oversized ${long}`, 'frame A']],
    ['a message many times longer', `<${long.repeat(9)}>,<A>,`, [`oversized ${long}`, 'frame A']],
    ['too long and cut by a new VT', `<${long}y<A>,`, [`interrupted ${MAX_FRAME_BYTES + 1}`, 'frame A']],
    ['too long and the end', `<${long}yz`, [`interrupted ${MAX_FRAME_BYTES + 2}`]],
    ['too long without CR', `<${long}y><A>,`, [`oversized ${long}`, 'no-cr-after-fs', 'frame A']],
  ])('%s', (_, stream, expected) => {
    const bytes = bytesOf(stream);
    expect(read([bytes])).toEqual(expected);
    expect(read(byteByByte(bytes))).toEqual(expected);
    for (let at = 1; at < bytes.length; at += 1) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
    }
  });

  test('reports a frame at its FS behind a line end, since a sender without CR waits for its ACK', () => {
    const decoder = decoderOf();
    expect(decoder.push(bytesOf('<A,')).map(show)).toEqual([]);
    expect(decoder.isInFrame).toBe(true);
    expect(decoder.push(bytesOf('>')).map(show)).toEqual(['frame A\r']);
    expect(decoder.isInFrame).toBe(false);
    expect(decoder.push(bytesOf(',')).map(show)).toEqual([]);
  });

  test('waits for the byte behind another FS, or for the word that none follows', () => {
    const decoder = decoderOf();
    expect(decoder.push(bytesOf('<A>')).map(show)).toEqual([]);
    expect([decoder.isInFrame, decoder.isAfterFs]).toEqual([true, true]);
    expect(decoder.push(bytesOf('B>')).map(show)).toEqual([]);
    expect(decoder.flush().map(show)).toEqual(['frame A>B']);
    expect([decoder.isInFrame, decoder.isAfterFs]).toEqual([false, false]);
    expect(decoder.flush()).toEqual([]);
    expect(decoder.push(bytesOf(',<C>,')).map(show)).toEqual(['frame C']);
  });

  test('a decoder starts again after the end', () => {
    const decoder = decoderOf();
    decoder.push(bytesOf('junk<A'));
    decoder.end();
    expect(decoder.end()).toEqual([]);
    expect(decoder.push(bytesOf('<B>,')).map(show)).toEqual(['frame B']);
  });

  test('junk is counted before it is reported, and forgotten with the next whole frame', () => {
    const decoder = decoderOf();
    decoder.push(bytesOf('abc'));
    expect(decoder.junkBytes).toBe(3);
    decoder.push(bytesOf('de<'));
    decoder.push(bytesOf('A<'));
    expect(decoder.junkBytes).toBe(5);
    decoder.push(bytesOf('B>,f'));
    expect(decoder.junkBytes).toBe(1);
  });

  test('every byte but VT and FS passes', () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i).filter((byte) => byte !== VT && byte !== FS);
    const [event] = decoderOf(256).push(encodeMllpFrame(all));
    expect(event).toEqual({ kind: 'frame', bytes: all });
  });

  test('a frame does not share memory with its chunk', () => {
    const chunk = Buffer.from(encodeMllpFrame(bytesOf('ABC')));
    const [event] = decoderOf().push(chunk);
    chunk.fill(0);
    expect(event && show(event)).toBe('frame ABC');
  });
});

/** The slow and obvious twin: the whole stream as one text, `<` for VT and `>` for FS, matched from the left. */
function twin(stream: Uint8Array, maxFrameBytes: number): string[] {
  const events: string[] = [];
  let rest = shown(stream).replaceAll('\v', '<');
  let junk = '';
  const reportJunk = (): void => {
    const count = junk.replaceAll(/[\r\n]/g, '').length;
    if (count > 0) events.push(`junk ${count}`);
    junk = '';
  };
  while (rest !== '') {
    const [frame, content = '', cr = ''] =
      /^<((?:[^<>]|(?<![<\r\n])>(?=[^<>\r\n]))*)>(?:(?<=[<\r\n]>)|(?=[<>\r\n]|$))(\r?)/.exec(rest) ?? [];
    const [cut, begun = ''] = /^<((?:[^<>]|(?<![<\r\n])>(?=[^<>\r\n]))*)(?=<|$)/.exec(rest) ?? [];
    if (frame !== undefined) {
      reportJunk();
      const isTooLong = content.length > maxFrameBytes;
      events.push(isTooLong ? `oversized ${content.slice(0, maxFrameBytes)}` : `frame ${content}`);
      if (cr === '') events.push('no-cr-after-fs');
    } else if (cut !== undefined) {
      reportJunk();
      if (begun !== '') events.push(`interrupted ${begun.length}`);
    } else {
      junk += rest.charAt(0);
    }
    rest = rest.slice((frame ?? cut ?? 'x').length);
  }
  reportJunk();
  return events;
}

describe('any stream, cut anywhere', () => {
  const content = fc.string({ unit: fc.constantFrom(...Array.from('AB\r\n|^')), maxLength: 12 });
  const part = fc.oneof(
    { weight: 4, arbitrary: content.map((text) => `\v${text}\u001c\r`) },
    { weight: 1, arbitrary: fc.constantFrom('\v', '\u001c', '\r', '\n', '\u001c\r', '\v\v', '\u001c\n') },
    { weight: 1, arbitrary: content },
    { weight: 1, arbitrary: content.map((text) => `\v${text}`) },
  );
  const stream = fc
    .array(part, { maxLength: 12 })
    .map((parts) => Uint8Array.from(Buffer.from(parts.join(''), 'latin1')));

  test('yields the frames that a simple implementation finds', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(120)), fc.constantFrom(0, 1, 5, 64), (bytes, places, maxFrameBytes) => {
        const cuts = [0, ...places.filter((at) => at < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const pieces = cuts.slice(1).map((end, i) => bytes.subarray(cuts[i] ?? 0, end));
        expect(read(pieces, maxFrameBytes)).toEqual(twin(bytes, maxFrameBytes));
      }),
      { numRuns: inputs(800) },
    );
  });

  test('decodes an encoded frame to its message', () => {
    const message = fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => bytes.filter((byte) => byte !== VT && byte !== FS));
    fc.assert(
      fc.property(fc.array(message), fc.integer({ min: 1, max: 400 }), (messages, size) => {
        const bytes = Buffer.concat(messages.map(encodeMllpFrame));
        const decoder = decoderOf(300);
        const events = cutEvery(bytes, size).flatMap((piece) => decoder.push(piece));
        expect(events).toEqual(messages.map((each) => ({ kind: 'frame', bytes: each })));
      }),
    );
  });
});

/** The bytes that are searched and copied: work, not time. */
const work = { searched: 0, copied: 0, largest: 0 };

class CountingArray extends Uint8Array {
  override indexOf(byte: number, from = 0): number {
    const at = super.indexOf(byte, from);
    work.searched += (at < 0 ? this.length : at + 1) - from;
    return at;
  }
  override set(source: ArrayLike<number>, offset?: number): void {
    work.copied += source.length;
    work.largest = Math.max(work.largest, this.length);
    super.set(source, offset);
  }
  override slice(from?: number, to?: number): Uint8Array<ArrayBuffer> {
    const part = super.slice(from, to);
    work.copied += part.length;
    return part;
  }
}

describe('work and memory', () => {
  /** All arrays that the decoder makes count from now on. */
  const count = (): void => {
    vi.stubGlobal('Uint8Array', CountingArray);
    Object.assign(work, { searched: 0, copied: 0, largest: 0 });
  };
  afterEach(() => void vi.unstubAllGlobals());

  test.each([1, 7, 1460, 65_536])('a frame of 1 MiB in chunks of %i bytes is linear', (size) => {
    const frame = CountingArray.from(encodeMllpFrame(new Uint8Array(MEBIBYTE).fill(0x41)));
    const pieces = cutEvery(frame, size);
    const decoder = decoderOf(MEBIBYTE);
    count();
    const events: MllpEvent[] = [];
    for (const piece of pieces) events.push(...decoder.push(piece));
    expect(events.map((event) => event.kind)).toEqual(['frame']);
    const [event] = events;
    expect(event?.kind === 'frame' && Buffer.compare(event.bytes, frame.subarray(1, -2))).toBe(0);
    // Each byte is searched for VT and for FS; it is kept, moved as the buffer doubles, and handed over.
    expect(work.searched).toBeGreaterThan(frame.length);
    expect(work.searched).toBeLessThanOrEqual(2 * frame.length);
    expect(work.copied).toBeGreaterThanOrEqual(2 * MEBIBYTE);
    expect(work.copied).toBeLessThanOrEqual(4 * MEBIBYTE);
    expect(work.largest).toBeLessThanOrEqual(MEBIBYTE);
  });

  test.each<[string, string]>([
    ['VT', '<'],
    ['FS', '>'],
    ['empty frames', '<>,'],
    ['doubled VT', '<<>'],
    ['junk and VT', 'x<'],
    ['cut frames', '<x'],
  ])('a chunk full of %s is linear', (_, unit) => {
    const chunk = CountingArray.from(bytesOf(unit.repeat(65_536 / unit.length)));
    const decoder = decoderOf();
    count();
    decoder.push(chunk);
    expect(work.searched).toBeGreaterThan(0);
    expect(work.searched).toBeLessThanOrEqual(2 * chunk.length);
    expect(work.copied).toBeLessThanOrEqual(chunk.length);
  });

  test('keeps only the beginning of a frame of 32 MB, and reads the next message', () => {
    const decoder = decoderOf(MEBIBYTE);
    const piece = CountingArray.from(Buffer.alloc(65_536, 0x42));
    count();
    const events = decoder.push(bytesOf('<MSH|'));
    for (let sent = 0; sent < 32 * MEBIBYTE; sent += piece.length) {
      events.push(...decoder.push(piece));
      if (sent > MEBIBYTE) expect(decoder.pendingBytes).toBe(4096);
    }
    events.push(...decoder.push(bytesOf('>,<A>,')));
    expect(events.map((event) => event.kind)).toEqual(['oversized', 'frame']);
    const [oversized] = events;
    const head = oversized?.kind === 'oversized' ? shown(oversized.head) : '';
    expect(head).toBe(`MSH|${'B'.repeat(4092)}`);
    expect(work.largest).toBeLessThanOrEqual(MEBIBYTE);
    // Bytes over the limit are not copied.
    expect(work.copied).toBeLessThanOrEqual(4 * MEBIBYTE);
  });

  test('a frame that never ends is held up to the limit, and then its beginning', () => {
    const decoder = decoderOf(MEBIBYTE);
    decoder.push(Uint8Array.of(VT));
    const piece = new Uint8Array(1000).fill(0x43);
    let most = 0;
    let reported = 0;
    for (let i = 0; i < 10_000; i += 1) {
      reported += decoder.push(piece).length;
      most = Math.max(most, decoder.pendingBytes);
    }
    expect(reported).toBe(0);
    expect(most).toBeGreaterThan(MEBIBYTE - 1000);
    expect(most).toBeLessThanOrEqual(MEBIBYTE);
    expect(decoder.pendingBytes).toBe(4096);
    expect(decoder.isInFrame).toBe(true);
    expect(decoder.end()).toEqual([{ kind: 'interrupted', bytes: 10_000_000 }]);
    expect(decoder.pendingBytes).toBe(0);
  });

  test('nothing is held between frames', () => {
    const decoder = decoderOf(MEBIBYTE);
    decoder.push(bytesOf('<A'));
    expect(decoder.pendingBytes).toBe(1);
    decoder.push(bytesOf('B>,'));
    expect(decoder.pendingBytes).toBe(0);
  });
});

test('encodeMllpFrame', () => {
  expect(encodeMllpFrame(bytesOf('A'))).toEqual(Uint8Array.of(VT, 0x41, FS, CR));
  expect(encodeMllpFrame(new Uint8Array(0))).toEqual(Uint8Array.of(VT, FS, CR));
});
