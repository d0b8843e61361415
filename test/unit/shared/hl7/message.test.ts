import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../shared/fault.ts';
import { MAX_SEGMENTS, readMessage, type Message } from '../../../../shared/hl7/message.ts';
import { parsePath, readPath } from '../../../stack/tools/hl7-path.ts';
import { MAX_SCANNED } from '../../../../shared/hl7/segment.ts';
import {
  child,
  componentOf,
  fieldPresence,
  locate,
  locatePart,
  partText,
  pathOf,
  presenceOf,
  rawAt,
  repetitions,
  valueAt,
} from '../../../../shared/hl7/value.ts';
import { inputs } from '../../../stack/tools/size.ts';

const MSH = 'MSH|^~\\&|A^1.2.3^ISO|B|C|D|20260102||ADT^A08^ADT_A01|42|P|2.5.1';
const message = readMessage(
  [
    MSH,
    'PID|1||123^^^HOSP&1.2.3&ISO^MR~456^^^^SS||Doe^J\\T\\J^""|""|||',
    'ZPI|own',
    'OBR|1||F1',
    'OBX|1|TX|a||x & y^z\\.br\\w',
    'NTE|1||note',
    'OBX|2|NM|b||2',
    'OBR|2||F2',
    'OBX|1|NM|c||3',
    '',
  ].join('\r'),
);

describe('readPath', () => {
  it.each([
    ['MSH-1', '|'],
    ['MSH-2', '^~\\&'],
    ['MSH-3', 'A'],
    ['MSH-3.2', '1.2.3'],
    ['MSH-9.3', 'ADT_A01'],
    ['MSH-10', '42'],
    ['PID-3', '123'],
    ['PID-3[1].4', 'HOSP'],
    ['PID-3[1].4.2', '1.2.3'],
    ['PID-3[2].1', '456'],
    ['PID-3[2].4', ''],
    ['PID-3[2].5', 'SS'],
    ['PID-3[3].1', undefined],
    ['PID-3[1].6', undefined],
    ['PID-3[1].1.2', undefined],
    ['PID-5.2', 'J&J'],
    ['PID-5.3', null],
    ['PID-6', null],
    ['PID-6.2', undefined],
    ['PID-7', ''],
    ['PID-9', ''],
    ['PID-10', undefined],
    ['ZPI-1', 'own'],
    ['OBX[3]-5', '3'],
    ['OBX[4]-5', undefined],
    ['PV1-2', undefined],
  ])('%s is %j', (path, value) => {
    expect(readPath(message, path)).toBe(value);
  });

  it.each(['', 'PID', 'PID-', 'pid-5', 'PID-5[0]', 'PID-5.1.1.1', 'PID.5', '__proto__-1', 'PID-5 '])(
    'refuses %j',
    (path) => {
      expect(() => parsePath(path)).toThrow(Fault);
    },
  );
});

describe('pathOf', () => {
  it.each([
    ['MSH^1', 'MSH'],
    ['OBX^3', 'OBX[3]'],
    ['PID^1^7', 'PID-7'],
    ['PID^1^7^1^1', 'PID-7.1'],
    ['OBX^3^5^2^4^1', 'OBX[3]-5[2].4.1'],
    ['???^2^1', '???[2]-1'],
  ])('%s is %s', (place, path) => {
    expect(pathOf(place)).toBe(path);
  });
});

describe('the four results', () => {
  it.each([
    [5, 'value'],
    [6, 'null'],
    [7, 'empty'],
    [99, 'absent'],
  ] as const)('PID-%d is %s', (field, presence) => {
    const pid = message.first('PID');
    expect(pid && fieldPresence(pid, field)).toBe(presence);
    expect(pid && presenceOf(valueAt(pid, field))).toBe(presence);
  });
});

describe('parts', () => {
  const pid = message.named('PID')[0];
  const obx = message.named('OBX')[0];
  if (pid === undefined || obx === undefined) throw new Error('no PID or OBX');

  it('a repetition has components, a component subcomponents, and each its place', () => {
    const [first, second] = repetitions(pid, 3);
    if (first === undefined || second === undefined) throw new Error('two repetitions');
    expect([child(first, 1), child(first, 4), child(first, 5), child(first, 6)]).toEqual([
      '123',
      'HOSP',
      'MR',
      undefined,
    ]);
    expect(locatePart(second, 5)).toBe('PID^1^3^2^5');
    const authority = componentOf(first, 4);
    if (authority === undefined) throw new Error('no authority');
    expect([1, 2, 3, 4].map((number) => child(authority, number))).toEqual(['HOSP', '1.2.3', 'ISO', undefined]);
    expect(locatePart(authority, 2)).toBe('PID^1^3^1^4^2');
    expect(componentOf(authority, 1)).toBeUndefined();
    expect(componentOf(first, 9)).toBeUndefined();
  });

  it('a text is read whole, with the separators its sender did not escape', () => {
    const part = repetitions(obx, 5)[0];
    expect(part && partText(part)).toBe('x & y^z\nw');
    expect(rawAt(obx, 5, 1, 1)).toBe('x & y');
    expect(rawAt(obx, 5, 1, 1, 2)).toBe(' y');
  });

  it('an absent or empty field has no repetitions, a null one has one', () => {
    expect([repetitions(pid, 7), repetitions(pid, 99)]).toEqual([[], []]);
    expect(repetitions(pid, 6).map((part) => presenceOf(partText(part)))).toEqual(['null']);
    expect(repetitions(message.segments[0] ?? pid, 2).map(({ raw }) => raw)).toEqual(['^~\\&']);
  });
});

describe('segments', () => {
  it('are numbered by their name, and located as ERR-2 wants it', () => {
    expect(message.named('OBX').map((segment) => locate(segment, 5, 1, 2))).toEqual([
      'OBX^1^5^1^2',
      'OBX^2^5^1^2',
      'OBX^3^5^1^2',
    ]);
  });

  it.each([
    ['CR', '\r'],
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['empty lines', '\r\r\n\n'],
    ['lines of white space', '\r \t\r\u001c\r'],
  ])('end with %s', (_, end) => {
    const read = readMessage(`${MSH}${end}PID|1${end}${end}`);
    expect(read.segments.map(({ raw }) => raw)).toEqual([MSH, 'PID|1']);
  });

  it('may have any name without harm', () => {
    const read = readMessage(`${MSH}\r__proto__|x\rconstructor|y\r|z\rA|B|c\rMRNs of John`);
    expect(read.segments.slice(1).map(({ id }) => id)).toEqual(['__proto__', 'constructor', '', 'A', 'MRNs of John']);
    // A line that is not a segment may be the rest of a broken text: its location must not quote it.
    expect(read.segments.slice(1).map((segment) => locate(segment, 1))).toEqual([
      '???^1^1',
      '???^2^1',
      '???^3^1',
      '???^4^1',
      '???^5^1',
    ]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    ['a text', 'OBX|1|TX|t||one', '  two\r\rEND\rseen|three||||||F'],
    ['a text without a status', 'OBX|1|TX|t||one', 'two'],
    ['base64', 'OBX|1|ED|d||^AP^PDF^Base64^AAAA', 'BBBB\rCC==||||||F'],
    ['a note', 'NTE|1||one', 'two\r\rthree'],
    ['an address', 'PID|1||1||||||||12 Main St', 'Apt 4^^Town|||1'],
  ])('continue in lines without a segment name: %s', (_, start, rest) => {
    for (const end of ['\r', '\n', '\r\n']) {
      const [broken, next] = [`${start}\r${rest}`.replaceAll('\r', end), `ZZZ|1${end}PV1${end}`];
      const { segments } = readMessage(`${MSH}${end}${broken}${end}${end}${next}`);
      expect(segments.map(({ raw }) => raw)).toEqual([MSH, `${start}\r${rest}`.replaceAll('\r', '\n'), 'ZZZ|1', 'PV1']);
    }
  });

  it.each([
    'OBX|1|NM|a||1||||||F\rEND',
    `${MSH}\rof the header|x`,
    'OBX||TX|a||x\rOBX||TX|b||y\rNTE||L|z\rZABCD|1\rZPATIENT_MORE|1\rObx|1',
    'PID|1||1\r__proto__|x\r|y\rz|1',
    'NTE|1||x\rORC\r PID|1\robx|1',
  ])('do not continue in other lines: %j', (lines) => {
    const { segments } = readMessage(lines.startsWith('MSH') ? lines : `${MSH}\r${lines}`);
    expect(segments.map(({ raw }) => raw).join('\r')).toBe(lines.startsWith('MSH') ? lines : `${MSH}\r${lines}`);
    expect(segments.some(({ raw }) => raw.includes('\n'))).toBe(false);
  });

  it('continue in ADD at any character, but MSH does not', () => {
    const lines = ['OBX|1|TX|t||Smi', 'ADD|th \\T', 'ADD|\\ Jones|||', 'ADD||||F', 'ADD', 'ADDS|1', 'DSC|'];
    for (const end of ['\r', '\n', '\r\n']) {
      const { segments } = readMessage([MSH, 'ADD|rest', ...lines, ''].join(end));
      const joined = ['OBX|1|TX|t||Smith \\T\\ Jones||||||F', 'ADD', 'ADDS|1', 'DSC|'];
      expect(segments.map(({ raw }) => raw)).toEqual([MSH, 'ADD|rest', ...joined]);
    }
  });

  it('begin after a mark, white space and the bytes of an MLLP frame', () => {
    expect(readMessage(`\ufeff\u000b \r\n${MSH}\r\u001c\r`).segments.map(({ id }) => id)).toEqual(['MSH']);
  });

  it('may be many, but not without end', () => {
    expect(readMessage(`${MSH}\r${'NTE|1\r'.repeat(MAX_SEGMENTS - 1)}`).segments).toHaveLength(MAX_SEGMENTS);
    expect(() => readMessage(`${MSH}\r${'NTE|1\r'.repeat(MAX_SEGMENTS)}`)).toThrow(
      expect.objectContaining({ kind: 'too-large', issues: [expect.objectContaining({ code: '207' })] }),
    );
  });

  it.each(['\0', '\0\0', '\r\0\r\n'])('end before the NUL of a C text: %j', (end) => {
    const { segments } = readMessage(`${MSH}\rPID||x${end}`);
    expect(segments.map(({ raw }) => raw)).toEqual([MSH, 'PID||x']);
  });

  it('do not contain NUL', () => {
    expect(() => readMessage(`${MSH}\rPID|\rPID||x\0y`)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ code: '102', at: 'PID^2^2' })] }),
    );
  });
});

describe('a hostile megabyte costs linear time', () => {
  const megabyte = (unit: string): string => unit.repeat(Math.ceil(1_048_576 / unit.length));

  it.each([
    ['line ends', `${MSH}\r${megabyte('\r')}`],
    ['separators', `${MSH}\rPID${megabyte('|')}`],
    ['repetitions', `${MSH}\rPID|||${megabyte('~')}`],
    ['escape marks', `${MSH}\rPID|||${megabyte('\\')}`],
    ['escapes', `${MSH}\rPID|||${megabyte('\\.sk99\\')}`],
    ['switches', `${MSH}\rPID|||${megabyte('\\C2D42\\')}`],
    ['segments without a field', `${MSH}\r${'AAA\r'.repeat(MAX_SEGMENTS - 1)}`],
    ['capitals before a NUL', `${MSH}\r${megabyte('A')}\r\0`],
    ['character sets', `MSH|^~\\&||||||||||||||||${megabyte('8859/1~')}ASCII`],
    ['character sets that do not fit', `MSH|^~\\&||||||||||||||||${megabyte('ASCII~')}UTF-8|ä`],
  ])('%s', (_, text) => {
    // Linear, it takes some 50 ms; a quadratic search takes minutes, which the time-out detects.
    try {
      const read = readMessage(new TextEncoder().encode(text));
      for (const segment of read.segments) {
        valueAt(segment, 3);
        repetitions(segment, 3).slice(0, 10).map(partText);
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  });
});

describe('any order of reading', () => {
  const content = fc.string({
    unit: fc.constantFrom(...Array.from('||^^~&\\"Fx\u017c'), 'value', '\\T\\'),
    maxLength: 40,
  });
  // The last byte of U+017C is that of the field separator.
  const position = fc.record({
    message: fc.nat({ max: 1 }),
    segment: fc.nat({ max: 2 }),
    field: fc.nat({ max: 6 }),
    repetition: fc.integer({ min: 1, max: 2 }),
    component: fc.integer({ min: 1, max: 3 }),
    subcomponent: fc.integer({ min: 1, max: 2 }),
  });
  const read = (contents: readonly string[], tail: string): Message =>
    readMessage([MSH, ...contents.map((content) => `PID|${content}`), tail].join('\r'));

  it('finds equal values in two messages at a time, for short, long and non-ASCII messages', () => {
    fc.assert(
      fc.property(
        fc.array(content, { minLength: 2, maxLength: 2 }),
        fc.constantFrom('', 'NTE|1||\u017c', `NTE|1||${'x'.repeat(MAX_SCANNED)}`),
        fc.array(position, { maxLength: 30 }),
        (contents, tail, positions) => {
          const messages = [read(contents, tail), read(contents.toReversed(), '')];
          for (const { message, segment: index, field, repetition, component, subcomponent } of positions) {
            const segment = messages[message]?.segments[index];
            if (segment === undefined || segment.isDeclaring) continue;
            const raw = segment.fields()[field]?.split('~')[repetition - 1]?.split('^')[component - 1];
            const text = raw?.split('&')[subcomponent - 1];
            const expected = text === '""' ? null : text?.replaceAll('\\T\\', '&');
            const found = valueAt(segment, field, repetition, component, subcomponent);
            // An escape other than those written above belongs to another test.
            if (text?.replaceAll('\\T\\', '').includes('\\') !== true) expect(found).toBe(expected);
            expect(segment.field(field)).toBe(segment.fields()[field]);
          }
        },
      ),
      { numRuns: inputs(500) },
    );
  });
});

describe('any bytes', () => {
  const punctuation = fc.string({ unit: fc.constantFrom(...Array.from('|^~\\&#"\r\n\u001cMSHPIDOBX1X.\u00e4\0')) });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    punctuation.map((text) => new TextEncoder().encode(text)),
    fc
      .uint8Array({ maxLength: 100 })
      .map((tail) => Uint8Array.from([...new TextEncoder().encode('MSH|^~\\&|'), ...tail])),
    punctuation.map((tail) => new TextEncoder().encode(`MSH|^~\\&${tail}`)),
  );

  it('are read, or rejected with a Fault that has a code and a place', () => {
    fc.assert(
      fc.property(bytes, (bytes) => {
        try {
          const read = readMessage(bytes);
          for (const segment of read.segments) {
            // The scan of valueAt and the splitting of rawAt agree.
            segment.fields().forEach((raw, field) => {
              expect(rawAt(segment, field)).toBe(raw);
              for (const [r, c, s] of [
                [1, 1, 1],
                [2, 1, 1],
                [1, 2, 1],
                [1, 2, 2],
                [2, 2, 1],
              ] as const) {
                expect(valueAt(segment, field, r, c, s) === undefined).toBe(
                  rawAt(segment, field, r, c, s) === undefined,
                );
              }
              for (const part of repetitions(segment, field)) {
                expect(child(part, 2)).toBe(valueAt(segment, field, part.repetition, 2));
                partText(part);
              }
            });
          }
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          expect(error.issues[0]).toMatchObject({ code: /^\d{3}$/.exec(error.issues[0]?.code ?? '')?.[0] });
          expect(error.issues[0]?.at).toMatch(/^([A-Z][A-Z0-9]{2}|\?\?\?)\^\d+(\^\d+)*$/);
        }
      }),
      { numRuns: inputs(500) },
    );
  });
});
