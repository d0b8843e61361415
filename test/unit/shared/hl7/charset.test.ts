import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { charsetNamed, decodeText, type Charset } from '../../../../shared/hl7/charset.ts';
import { decodeMessage } from '../../../../shared/hl7/decode.ts';
import { encodeLossy, encodeText } from '../../../../shared/hl7/encode.ts';
import { hasSwitches } from '../../../../shared/hl7/iso-2022.ts';

const header = (charset: string): string => `MSH|^~\\&|A|B|C|D|2026||ADT^A08|1|P|2.5.1||||||${charset}\rPID|1||1||`;
const bytesOf = (start: string, ...rest: number[]): Uint8Array =>
  Uint8Array.from([...new TextEncoder().encode(start), ...rest]);

describe('charsetNamed', () => {
  it.each([
    ['ASCII', 'us-ascii'],
    ['8859/1', 'iso-8859-1'],
    ['8859/15', 'iso-8859-15'],
    ['UNICODE UTF-8', 'utf-8'],
    ['unicode utf-8', 'utf-8'],
    ['UTF-8', 'utf-8'],
    ['UTF8', 'utf-8'],
    ['UNICODE', 'utf-8'],
    ['ISO-8859-1', 'iso-8859-1'],
    ['ISO IR87', 'iso-2022-jp'],
    ['GB 18030-2000', 'gb18030'],
    ['KLINGON', undefined],
    ['__proto__', undefined],
    ['', undefined],
  ])('%j is %s', (name, charset) => {
    expect(charsetNamed(name)).toBe(charset);
  });
});

describe('decodeText', () => {
  it('decodes a few printable ASCII bytes as the decoder of the set does, and nothing else without it', () => {
    const sets: readonly Charset[] = [
      'utf-8',
      'iso-8859-2',
      'windows-1252',
      'shift_jis',
      'euc-kr',
      'big5',
      'gb18030',
      'utf-16le',
    ];
    for (const set of sets) {
      const decoder = new TextDecoder(set, { ignoreBOM: true });
      for (const text of ['A', '~', '\\', 'a b', 'ABCD', 'ABCDE', '\u007f', '\u00e4', '\u001b']) {
        const bytes = new TextEncoder().encode(text);
        const decoded = decodeText(bytes, set);
        if (decoded !== undefined) expect(decoded, `${set} ${text}`).toBe(decoder.decode(bytes));
      }
    }
    expect(decodeText(Uint8Array.of(0xe4), 'utf-8')).toBeUndefined();
  });
});

describe('decodeMessage', () => {
  it.each<[string, Uint8Array, Charset | undefined, Charset, string]>([
    ['nothing named: UTF-8', bytesOf(header(''), 0xc3, 0xa4), undefined, 'utf-8', 'ä'],
    ['nothing named, the key says 8859/1', bytesOf(header(''), 0xe4), 'iso-8859-1', 'iso-8859-1', 'ä'],
    ['MSH-18 before the key', bytesOf(header('UNICODE UTF-8'), 0xc3, 0xa4), 'iso-8859-1', 'utf-8', 'ä'],
    ['8859/1 is not windows-1252', bytesOf(header('8859/1'), 0x80), undefined, 'iso-8859-1', '\u0080'],
    ['8859/9 is not windows-1254', bytesOf(header('8859/9'), 0x80, 0xfd), undefined, 'iso-8859-9', '\u0080ı'],
    ['8859/2', bytesOf(header('8859/2'), 0xb1), undefined, 'iso-8859-2', 'ą'],
    ['8859/15', bytesOf(header('8859/15'), 0xa4), undefined, 'iso-8859-15', '€'],
    ['repetitions: the first', bytesOf(header('8859/1~8859/2'), 0xb1), undefined, 'iso-8859-1', '±'],
    ['repetitions: an unknown first', bytesOf(header('X~8859/2'), 0xb1), undefined, 'iso-8859-2', 'ą'],
    ['repetitions: an empty first', bytesOf(header('~8859/2'), 0x41), undefined, 'utf-8', 'A'],
    ['repetitions: a first that does not fit', bytesOf(header('ASCII~8859/1'), 0xe4), undefined, 'iso-8859-1', 'ä'],
    ['UTF-8~UNICODE', bytesOf(header('UTF-8~UNICODE'), 0xc3, 0xa4), undefined, 'utf-8', 'ä'],
    ['GB 18030', bytesOf(header('GB 18030-2000'), 0xc4, 0xe3), undefined, 'gb18030', '你'],
    [
      'a mark before MSH-18',
      Uint8Array.from([0xef, 0xbb, 0xbf, ...bytesOf(header('8859/1'), 0xc3, 0xa4)]),
      undefined,
      'utf-8',
      'ä',
    ],
  ])('%s', (_, bytes, fallback, charset, end) => {
    const decoded = decodeMessage(bytes, fallback);
    expect(decoded.charset).toBe(charset);
    expect(decoded.text.startsWith('MSH|')).toBe(true);
    expect(decoded.text.endsWith(`||${end}`)).toBe(true);
  });

  describe('with the escape sequences of ISO 2022', () => {
    const escaped = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
    const read = (names: string, name: string, more = ''): string => {
      const { text } = decodeMessage(escaped(`${header(names)}${name}||19800229|M${more}`));
      return text.slice(text.indexOf('||1||') + 5);
    };

    // The byte of 万 is |, of 郎 also a sign.
    const JAPANESE = [
      '~ISO IR87',
      'ASCII~ISO IR87',
      'ISO IR6~ISO IR87~ISO IR159',
      'ISO IR14~ISO IR87',
      'ISO IR87',
      '~JIS X 0202',
    ];
    it.each(JAPANESE)('reads Japanese announced as %s', (names) => {
      expect(read(names, '\u001b$BK|ED\u001b(B^\u001b$BB@O:\u001b(B')).toBe('万田^太郎||19800229|M');
      expect(read(names, '\u001b$@K|ED\u001b(J^\u001b(I6E\u001b(J~A\\F\\')).toBe('万田^ｶﾅ~A\\F\\||19800229|M');
      expect(read(names, '\u001b$(D0!\u001b(B')).toBe('丂||19800229|M');
    });

    it.each([
      ['ASCII~KS X 1001', '\u001b$)C\u00b0\u00a1^A', '가^A'],
      ['ASCII~GB 18030-2000', '\u001b$)A\u00c4\u00e3', '你'],
      ['8859/1~8859/5', '\u00e4^\u001b-L\u00c0', 'ä^Р'],
      ['ISO IR14~ISO IR87', '\u00b6\u00c5\u001b$BK|\u001b(B', 'ｶﾅ万'],
    ])('reads %s', (names, sent, text) => {
      expect(read(names, sent)).toBe(`${text}||19800229|M`);
    });

    it('begins each segment in ASCII, and keeps sequences that switch nothing', () => {
      expect(read('~ISO IR87', '\u001b$BK|\u001b(B\u001b[0m', '\rNTE|1||\u001b$BED\rNTE|2')).toBe(
        '万\u001b[0m||19800229|M\rNTE|1||田\rNTE|2',
      );
    });

    it('finds MSH-18 after a field in Japanese, and rejects half a character', () => {
      const msh = header('~ISO IR87').replace('|A|', '|\u001b$BK|\u001b(B|');
      expect(decodeMessage(escaped(msh)).text).toContain('|万|');
      expect(() => decodeMessage(escaped(`${header('~ISO IR87')}\u001b$BK|E\u001b(B`))).toThrow(
        expect.objectContaining({ issues: [expect.objectContaining({ code: '102', at: 'PID^1^5' })] }),
      );
    });

    it.each(JAPANESE)('text in Japanese announced as %s is the same after encoding and decoding', (names) => {
      const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
        (character) => /[^\p{Cc}\p{Cs}]/u.test(character) && encodeText(character, 'iso-2022-jp') !== undefined,
      );
      expect(all.length).toBeGreaterThan(12_000);
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...all)), (characters) => {
          const text = `${header(names)}${characters.join('')}|x\rNTE|1||${characters.toReversed().join('')}`;
          const bytes = encodeText(text, 'iso-2022-jp') ?? new Uint8Array();
          const decoded = decodeMessage(bytes);
          expect(decoded.text).toBe(text);
          if (hasSwitches(bytes)) expect(decoded.charset).toBe('iso-2022-jp');
        }),
      );
    });
  });

  it.each(['utf-16le', 'utf-16be'] as const)('reads %s, with and without its mark', (charset) => {
    const text = `${header('')}ä€`;
    for (const mark of ['\ufeff', '']) {
      const bytes = encodeText(mark + text, charset) ?? new Uint8Array();
      expect(decodeMessage(bytes)).toEqual({ text, charset });
    }
  });

  it.each([
    ['ASCII', bytesOf(header('ASCII'), 0xe4), '102', 'PID^1^5'],
    ['UTF-8', bytesOf(header(''), 0xe4), '102', 'PID^1^5'],
    ['a second segment of its name', bytesOf(`${header('')}\rNTE|1\rNTE|2||x`, 0xff), '102', 'NTE^2^3'],
    ['in MSH', bytesOf('MSH|^~\\&|A', 0xff), '102', 'MSH^1^3'],
    ['an unknown set', bytesOf(header('KLINGON')), '103', 'MSH^1^18'],
    ['not a segment', bytesOf('MSH|^~\\&|A\r\r', 0xff), '102', '???^1'],
  ])('rejects bytes that do not decode: %s', (_, bytes, code, at) => {
    expect(() => decodeMessage(bytes)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ code, at })] }),
    );
  });
});

describe('encodeText', () => {
  it.each<[Charset, string]>([
    ['us-ascii', 'Az~'],
    ['iso-8859-1', 'äÿ\u0080'],
    ['iso-8859-2', 'ąŁ'],
    ['iso-8859-7', 'αω'],
    ['iso-8859-9', 'ğİş'],
    ['windows-1252', '€“'],
    ['shift_jis', 'あア|漢'],
    ['iso-2022-jp', 'aあ漢b'],
    ['euc-jp', 'あ漢'],
    ['gb18030', '你好'],
    ['euc-kr', '한글'],
    ['big5', '漢字'],
    ['utf-8', 'ä😀'],
    ['utf-16le', 'ä😀'],
    ['utf-16be', 'ä😀'],
  ])('%s and back', (charset, text) => {
    const bytes = encodeText(text, charset);
    expect(bytes).toBeDefined();
    expect(decodeText(bytes ?? new Uint8Array(), charset)).toBe(text);
  });

  it('every byte of ISO 8859-1 survives decoding and encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(encodeText(decodeText(bytes, 'iso-8859-1') ?? '', 'iso-8859-1')).toEqual(bytes);
      }),
    );
  });

  it('reports a character outside the character set, or writes a question mark', () => {
    expect(encodeText('€', 'iso-8859-1')).toBeUndefined();
    expect(new TextDecoder().decode(encodeLossy('a€b', 'us-ascii'))).toBe('a?b');
  });
});
